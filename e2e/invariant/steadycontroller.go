package invariant

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// Events from this component, the harness, tell what a spec did from what happened.
const (
	Harness = "plumbline"
	// ReasonKilled is about a pod that is about to be killed.
	ReasonKilled = "Killed"
	// ReasonInterrupted says that the API server was away, and that what comes later
	// is recorded again.
	ReasonInterrupted = "Interrupted"
)

// steadyController says that no container of the provider's controller ends or is
// restarted: it doesn't panic, and is not killed for a probe, a lost election or its
// memory. The controller's pods are those in its namespace whose name or label
// app.kubernetes.io/name contains "karpenter", as in every known chart; where there
// is none, this is vacuous. A pod that is deleted, as in a rollout, may end, and
// each container of one that a spec killed once for each kill: the harness says so
// before, by an Event about the pod (ReasonKilled).
//
// A recording has neither its log nor its metrics: error lines, and that
// karpenter_cluster_state_synced returns to 1, are not judged.
//
// Source: core/v1 ContainerStatus (restartCount, state, lastState); upstream treats
// every panic of its controllers as a bug.
func steadyController() Invariant {
	const name = "the controller neither restarts nor panics"
	return Invariant{
		Name:   name,
		Source: "Pod status.containerStatuses[*].restartCount of the controller",
		Check: func(p Params) check.Check {
			namespace := p.Controller
			if namespace == "" {
				namespace = "kube-system"
			}
			return check.Follow(name, "no container of a controller in the namespace "+namespace+" was running",
				func() func(*check.Moment) {
					return (&containers{namespace: namespace, running: map[string]bool{}, killed: map[string]int{}, forgiven: map[string]int{}}).see
				}, karpenter.Pods, karpenter.Events)
		},
	}
}

type containers struct {
	namespace string
	running   map[string]bool // those that were ever, by pod UID and name
	killed    map[string]int  // how often a spec killed a pod, by its UID
	forgiven  map[string]int  // ends of a container that were kills, by pod UID and name
}

func (c *containers) see(m *check.Moment) {
	switch {
	case m.End:
	case m.Event == nil:
		for _, pod := range m.World.List(karpenter.Pods) {
			c.learn(m, pod)
		}
	case m.Event.Resource == karpenter.Events:
		c.hear(m)
	case m.Event.Object.Namespace == c.namespace && !gone(m):
		c.learn(m, m.Event.Object)
		c.judge(m)
	}
}

// hear counts the kills that were asked for.
func (c *containers) hear(m *check.Moment) {
	event := m.Event.Object.Unstructured()
	if m.Before == nil && karpenter.EventReason(event) == ReasonKilled && karpenter.EventComponent(event) == Harness {
		c.killed[karpenter.EventInvolved(event).UID]++
	}
}

// learn counts each container once that is seen running: it could end.
func (c *containers) learn(m *check.Moment, pod *history.Object) {
	if pod.Namespace != c.namespace || !isController(pod.Unstructured()) {
		return
	}
	for _, s := range karpenter.Containers(pod.Unstructured()) {
		if id := pod.UID + "/" + s.Name; s.State.Running != nil && !c.running[id] {
			c.running[id] = true
			m.Tested()
		}
	}
}

func (c *containers) judge(m *check.Moment) {
	pod := m.Event.Object
	if m.Before == nil || m.Before.UID != pod.UID || !isController(pod.Unstructured()) || karpenter.Deleting(pod.Unstructured()) {
		return
	}
	before := map[string]int{}
	for _, s := range karpenter.Containers(m.Before.Unstructured()) {
		before[s.Name] = ends(pod.Unstructured(), s)
	}
	for _, s := range karpenter.Containers(pod.Unstructured()) {
		id, more := pod.UID+"/"+s.Name, ends(pod.Unstructured(), s)-before[s.Name]
		switch {
		case more <= 0:
		case c.forgiven[id]+more <= c.killed[pod.UID]:
			c.forgiven[id] += more
		case s.State.Terminated != nil:
			m.Broken(fmt.Sprintf("container %s ended: %s", s.Name, lastWords(s.State.Terminated)), pod)
		default:
			m.Broken(fmt.Sprintf("container %s was restarted (%d times by now): %s", s.Name, s.RestartCount, lastWords(s.LastTerminationState.Terminated)), pod)
		}
	}
}

// ends is how often a container has ended so far, but for the one end that is due
// of an init container.
func ends(pod *unstructured.Unstructured, s corev1.ContainerStatus) int {
	n := int(s.RestartCount)
	ended := s.State.Terminated != nil || s.State.Running == nil && s.LastTerminationState.Terminated != nil
	if ended && !initial(pod, s.Name) {
		n++ // and has not been started again
	}
	return n
}

func isController(pod *unstructured.Unstructured) bool {
	return strings.Contains(pod.GetName(), "karpenter") || strings.Contains(karpenter.Label(pod, "app.kubernetes.io/name"), "karpenter")
}

// initial says whether a container is one of those that end before the others
// begin.
func initial(pod *unstructured.Unstructured, name string) bool {
	for _, c := range list(pod, "spec", "initContainers") {
		if c["name"] == name {
			return true
		}
	}
	return false
}

// lastWords is how a container ended, with the line of a panic if it left one.
func lastWords(t *corev1.ContainerStateTerminated) string {
	if t == nil {
		return "nobody knows how it ended"
	}
	words := fmt.Sprintf("%s, exit code %d", t.Reason, t.ExitCode)
	for line := range strings.Lines(t.Message) {
		if strings.HasPrefix(line, "panic:") || strings.HasPrefix(line, "fatal error:") {
			return words + ", " + strings.TrimSpace(line)
		}
	}
	return words
}
