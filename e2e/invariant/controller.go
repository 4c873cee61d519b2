package invariant

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// Events from this component, the harness, record what a spec did.
const (
	Harness = "plumbline"
	// ReasonKilled is for a pod that is about to be killed. Of a namespace, it means that the controller is about to be
	// restarted with other settings.
	ReasonKilled = "Killed"
	// ReasonHook is for a NodeClass. A hook of the adapter is about to change the cloud, the
	// NodeClass or a node, or has answered.
	ReasonHook = "Hook"
	// ReasonInterrupted means that watches were broken on purpose; later events are recorded again.
	ReasonInterrupted = "Interrupted"
	// ReasonFault means that a fault strikes a request of the controller for the first time.
	ReasonFault = "Fault"
	// ReasonUpgrade means that the provider's release or CRDs are about to change, or have changed.
	ReasonUpgrade = "Upgrade"
	// ReasonJump means that the cluster's clock is about to jump. The message ends with how far: the words
	// "by 6m0s".
	ReasonJump = "Jump"
	// ReasonDeleted is for a NodeClaim or node that a spec is about to delete. Of a namespace, it means that the
	// clean-up is about to delete all that is left.
	ReasonDeleted = "Deleted"
)

// ControllerStaysUp is the name of the invariant that a controller which panics or restarts breaks.
const ControllerStaysUp = "the controller neither restarts nor panics"

// controllerStaysUp checks that no container of the provider's controller ends or restarts: no
// panic, and no kill for a probe, a lost election or its memory.
//
// The controller's pods are those in its namespace, if that is known, whose name or label app.kubernetes.io/name
// contains "karpenter", as in every known chart. A pod that is deleted, as in a rollout, may
// end. Each container of a pod that a spec kills may end once per kill. The harness reports
// the kill beforehand, by an Event about the pod (ReasonKilled).
//
// A recording has neither logs nor metrics. So error lines are not judged, nor whether
// karpenter_cluster_state_synced returns to 1.
func controllerStaysUp() Invariant {
	return Invariant{
		Name: ControllerStaysUp,
		Source: "core/v1 ContainerStatus (restartCount, state, lastState); " +
			"upstream treats every panic of its controllers as a bug",
		Untested: "no container of a controller was running in its namespace (the adapter's controller.namespace, if known)",
		Reads:    resources{karpenter.Pods, karpenter.Events},
		New: func(p Params) check.Monitor {
			return &controllerMonitor{p.Controller, map[string]bool{}, map[string]int{}, map[string]int{}}
		},
	}
}

type controllerMonitor struct {
	namespace string          // of the controller; empty: any
	running   map[string]bool // containers that were ever running, by pod UID and name
	killed    map[string]int  // how often a spec killed a pod, by its UID
	forgiven  map[string]int  // ends of a container that were kills, by pod UID and name
}

func (c *controllerMonitor) Observe(m *check.Moment) {
	for _, pod := range m.Seen(karpenter.Pods) {
		if (c.namespace == "" || pod.Namespace == c.namespace) && isController(pod.Unstructured()) {
			c.learn(m, pod)
			if m.Before != nil && !isDeleting(pod) {
				c.judge(m, pod)
			}
		}
	}
	if m.Resource() == karpenter.Events && m.Before == nil {
		if reason, pod := eventOf(m, Harness, "Pod", ReasonKilled); reason != "" {
			c.killed[pod.UID]++
		}
	}
}

// learn counts each container that is seen running as one test.
func (c *controllerMonitor) learn(m *check.Moment, pod *history.Object) {
	for _, s := range karpenter.Containers(pod.Unstructured()) {
		if id := pod.UID + "/" + s.Name; s.State.Running != nil && !c.running[id] {
			c.running[id] = true
			m.Tested()
		}
	}
}

func (c *controllerMonitor) judge(m *check.Moment, pod *history.Object) {
	before := map[string]int{}
	for _, s := range karpenter.Containers(m.Before.Unstructured()) {
		before[s.Name] = timesEnded(pod.Unstructured(), s)
	}
	for _, s := range karpenter.Containers(pod.Unstructured()) {
		id, more := pod.UID+"/"+s.Name, timesEnded(pod.Unstructured(), s)-before[s.Name]
		switch {
		case more <= 0:
		case c.forgiven[id]+more <= c.killed[pod.UID]:
			c.forgiven[id] += more
		case s.State.Terminated != nil:
			m.Broken("container %s ended: %s", s.Name, lastWords(s.State.Terminated)).Beside(pod)
		default:
			m.Broken("container %s was restarted (%d times by now): %s",
				s.Name, s.RestartCount, lastWords(s.LastTerminationState.Terminated)).Beside(pod)
		}
	}
}

// timesEnded returns how often a container has ended, but not the regular end of an init
// container.
func timesEnded(pod *unstructured.Unstructured, s corev1.ContainerStatus) int {
	n := int(s.RestartCount)
	ended := s.State.Terminated != nil || s.State.Running == nil && s.LastTerminationState.Terminated != nil
	if ended && !isInitContainer(pod, s.Name) {
		n++ // and has not been restarted
	}
	return n
}

func isController(pod *unstructured.Unstructured) bool {
	return strings.Contains(pod.GetName(), "karpenter") ||
		strings.Contains(karpenter.Label(pod, "app.kubernetes.io/name"), "karpenter")
}

func isInitContainer(pod *unstructured.Unstructured, name string) bool {
	named := func(c map[string]any) bool { return c["name"] == name }
	return slices.ContainsFunc(objectsAt(pod, "spec", "initContainers"), named)
}

// lastWords returns how a container ended, with its panic line if there is one.
func lastWords(t *corev1.ContainerStateTerminated) string {
	if t == nil {
		return "it is unknown how it ended"
	}
	words := fmt.Sprintf("%s, exit code %d", t.Reason, t.ExitCode)
	for line := range strings.Lines(t.Message) {
		if strings.HasPrefix(line, "panic:") || strings.HasPrefix(line, "fatal error:") {
			return words + ", " + strings.TrimSpace(line)
		}
	}
	return words
}
