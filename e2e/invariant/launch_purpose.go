package invariant

import (
	"regexp"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// schedulerRetry is how long the scheduler may take to place a pod on a node that has become
// ready: its longest backoff of ten seconds (Kubernetes: pkg/scheduler/backend/queue), and a
// margin for busy machines.
const schedulerRetry = 20 * time.Second

// watchedAgain is how long after the API server was away the scheduler may take to see what has changed: it waits up
// to a minute before it watches again (client-go: tools/cache/reflector.go, 30 seconds at most and the same as jitter).
const watchedAgain = 70 * time.Second

// launchesServePods checks that a node that Karpenter launched for pods takes one of them. The
// real scheduler judges Karpenter's simulation of it. If it places none of the pods there
// although they still wait, the simulation was wrong, and the node is paid for nothing.
//
// Karpenter reports the pods that a NodeClaim is for (event Nominated). Judged are NodeClaims
// whose node has been initialized for a while, is ready, and has no taints but those of its
// NodeClaim. Pods that are gone or run elsewhere don't need the node any more.
func launchesServePods() Invariant {
	return Invariant{
		Name: "launched nodes take pods that they were launched for",
		Source: "https://karpenter.sh/docs/concepts/scheduling; Karpenter: pkg/controllers/provisioning/scheduling, " +
			"which simulates the scheduler",
		Untested: "no node was initialized that was launched for pods",
		Reads:    resources{karpenter.Pods, karpenter.Nodes, karpenter.NodeClaims, karpenter.Events},
		New: func(Params) check.Monitor {
			return &launchMonitor{lastNodeClaims{}, newTimers(), map[string]map[string]bool{}, map[string]bool{}, time.Time{}}
		},
	}
}

type launchMonitor struct {
	lastNodeClaims
	overdue timers                     // NodeClaims whose nodes should have pods, by name
	meant   map[string]map[string]bool // the pods that a NodeClaim is for, namespace/name, by its name
	served  map[string]bool            // nodes that have got a pod, by name
	watched time.Time                  // when the scheduler sees everything again, after the API server was away
}

// nominatedTo finds the NodeClaim in Karpenter's event (Karpenter:
// pkg/controllers/provisioning/scheduling/events.go).
var nominatedTo = regexp.MustCompile(`nodeclaim/([^\s,]+)`)

func (l *launchMonitor) Observe(m *check.Moment) {
	l.lastNodeClaims.observe(m)
	for _, name := range l.overdue.expired(m.Time) {
		if due := l.watched.Add(schedulerRetry); m.Time.Before(due) {
			l.overdue.set(name, due)
			continue
		}
		l.judge(m, name)
	}
	switch m.Resource() {
	case karpenter.Events:
		if reason, _ := eventOf(m, Harness, "", ReasonInterrupted); reason != "" {
			l.watched = m.Time.Add(watchedAgain)
		}
		l.nominated(m)
	case karpenter.Pods:
		l.bound(m, m.Event.Object)
	case karpenter.Nodes:
		if m.Deleted() {
			delete(l.served, m.Event.Object.Name)
		}
	case karpenter.NodeClaims:
		l.nodeClaim(m, m.Event.Object)
	}
}

// nominated notes for which NodeClaim Karpenter means a pod.
func (l *launchMonitor) nominated(m *check.Moment) {
	reason, about := eventOf(m, karpenter.EventSource, "Pod", karpenter.ReasonNominated)
	if reason == "" {
		return
	}
	to := nominatedTo.FindStringSubmatch(karpenter.EventMessage(m.Event.Object.Unstructured()))
	if to == nil {
		return
	}
	if l.meant[to[1]] == nil {
		l.meant[to[1]] = map[string]bool{}
	}
	l.meant[to[1]][about.Namespace+"/"+about.Name] = true
}

// bound notes that a node has got a pod. Its NodeClaim may not know the node yet.
func (l *launchMonitor) bound(m *check.Moment, pod *history.Object) {
	on := karpenter.PodNode(pod.Unstructured())
	if on == "" || l.served[on] || ownedBy(pod.Unstructured(), "DaemonSet") {
		return
	}
	l.served[on] = true
	if nodeClaim := l.lastNodeClaims[on]; nodeClaim != nil && l.meant[nodeClaim.Name] != nil {
		m.Tested()
	}
}

func (l *launchMonitor) nodeClaim(m *check.Moment, nodeClaim *history.Object) {
	switch name := nodeClaim.Name; {
	case m.Deleted():
		l.overdue.stop(name)
	case !becomesTrue(m, karpenter.Initialized):
	case !l.served[karpenter.NodeClaimNode(nodeClaim.Unstructured())]:
		l.overdue.set(name, m.Time.Add(schedulerRetry))
	case l.meant[name] != nil:
		m.Tested()
	}
}

// judge looks for a pod that waits still, beside the node that was launched for it.
func (l *launchMonitor) judge(m *check.Moment, name string) {
	nodeClaim := m.World.Get(karpenter.NodeClaims, "", name)
	if nodeClaim == nil || isDeleting(nodeClaim) || len(l.meant[name]) == 0 {
		return
	}
	node := m.World.Get(karpenter.Nodes, "", karpenter.NodeClaimNode(nodeClaim.Unstructured()))
	if node == nil || !mayTakePods(node, nodeClaim) || l.served[node.Name] {
		return
	}
	m.Tested()
	for _, pod := range m.World.List(karpenter.Pods) {
		u := pod.Unstructured()
		if l.meant[name][pod.Namespace+"/"+pod.Name] && karpenter.PodNode(u) == "" && isActive(u) {
			m.Suspect("node %s was launched for pod %s, which waits still: the scheduler has placed no pod on the node in %s",
				node, pod, schedulerRetry).Beside(nodeClaim, pod)
			return
		}
	}
}

// mayTakePods reports whether the pods for which Karpenter launched a node may run on it now.
func mayTakePods(node, nodeClaim *history.Object) bool {
	if isDeleting(node) || !karpenter.NodeReady(node.Unstructured()) {
		return false
	}
	meant := map[string]bool{}
	for _, t := range objectsAt(nodeClaim.Unstructured(), "spec", "taints") {
		key, _ := t["key"].(string)
		meant[key] = true
	}
	for _, t := range karpenter.Taints(node.Unstructured()) {
		if !meant[t.Key] && t.Effect != corev1.TaintEffectPreferNoSchedule {
			return false
		}
	}
	return true
}
