package invariant

import (
	"fmt"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

const (
	// schedulerLag is how long after the taint the scheduler may still bind a pod, since it decided before it saw the
	// taint. Karpenter itself reckons with it (Karpenter: pkg/controllers/node/termination, MinDrainTime).
	schedulerLag = 2 * time.Second
	// giveUpLag is how long a node may keep the taint after its disruption was given up. Karpenter removes both at once,
	// and what it failed to remove in its next round, 10 s later at most (Karpenter: pkg/controllers/disruption,
	// pollingPeriod).
	giveUpLag = 30 * time.Second
)

// taintedFirst checks that a node which Karpenter disrupts has the disrupted taint before its deletion begins and before
// any pod is evicted from it, until it is gone; that no pod is bound to it after; and that the taint goes away if the
// disruption is given up. Else pods move to a node that is about to go, or a node stays out of use for ever.
//
// Source: designs/disruption-controls.md and the docs on disruption (the taint comes first); Karpenter:
// pkg/controllers/disruption/queue.go, markDisrupted, and pkg/controllers/node/termination.
//
// A pod's condition DisruptionTarget tells an eviction from other departures (Kubernetes: EvictionByEvictionAPI). The
// NodeClaim's condition DisruptionReason tells that a disruption was begun and given up. Releases before v1.5 don't have
// it, and with them that part isn't judged.
func taintedFirst() Invariant {
	return Invariant{
		Name:     "nodes are tainted before they are disrupted, and as long",
		Source:   "karpenter.sh/disrupted taint, NodeClaim condition DisruptionReason; Karpenter: designs/disruption-controls.md, pkg/controllers/disruption/queue.go",
		Untested: "no node was disrupted",
		Reads:    resources{karpenter.Nodes, karpenter.NodeClaims, karpenter.Pods},
		New: func(Params) check.Monitor {
			return &taintMonitor{newNodeIndex(), map[string]time.Time{}, newTimers()}
		},
	}
}

type taintMonitor struct {
	nodeIndex
	since   map[string]time.Time // when nodes got the taint, by name
	givenUp timers               // nodes whose disruption was given up, by name
}

func (t *taintMonitor) Observe(m *check.Moment) {
	t.observe(m)
	for _, name := range t.givenUp.over(m.Time) {
		t.judgeGivenUp(m, name)
	}
	switch m.Resource() {
	case karpenter.Nodes:
		t.node(m, m.Event.Object)
	case karpenter.NodeClaims:
		t.nodeClaim(m, m.Event.Object)
	case karpenter.Pods:
		if !m.Deleted() {
			t.pod(m, m.Event.Object)
		}
	}
}

func (t *taintMonitor) node(m *check.Moment, node *history.Object) {
	had, has := tainted(m.Before), tainted(node) && !m.Deleted()
	switch {
	case has && !had:
		t.since[node.Name] = m.Time
	case had && !has:
		delete(t.since, node.Name)
		t.givenUp.stop(node.Name)
		if !m.Deleted() && deleting(m.Before) && deleting(node) {
			m.Broken(fmt.Sprintf("node %s is being deleted and loses the taint %s", node.Name, karpenter.DisruptedTaint), node)
		}
	}
}

// nodeClaim judges the beginning of the deletion, and notes what is given up.
func (t *taintMonitor) nodeClaim(m *check.Moment, nodeClaim *history.Object) {
	node := t.nodeOf(nodeClaim)
	if node == nil || m.Deleted() || m.Before == nil || !isTrue(m.Before, karpenter.DisruptionReason) {
		return
	}
	switch {
	case becomesDeleting(m):
		m.Tested()
		if !tainted(node) {
			m.Suspect(fmt.Sprintf("NodeClaim %s is being deleted to disrupt node %s, which lacks the taint %s",
				nodeClaim.Name, node.Name, karpenter.DisruptedTaint), nodeClaim, node)
		}
	case !deleting(nodeClaim) && !isTrue(nodeClaim, karpenter.DisruptionReason):
		m.Tested()
		if tainted(node) {
			t.givenUp.set(node.Name, m.Time.Add(giveUpLag))
		}
	}
}

// pod judges evictions and bindings.
func (t *taintMonitor) pod(m *check.Moment, pod *history.Object) {
	on := karpenter.PodNode(pod.Unstructured())
	node := m.World.Get(karpenter.Nodes, "", on)
	if node == nil || karpenter.NodePoolOf(node.Unstructured()) == "" {
		return
	}
	if becomesEvicted(m) {
		t.judgeEviction(m, pod, node)
	}
	bound := m.Before == nil || karpenter.PodNode(m.Before.Unstructured()) != on
	since, is := t.since[on]
	if bound && is && m.Time.Sub(since) > schedulerLag && !toleratesDisruption(pod.Unstructured()) && !ownedBy(pod.Unstructured(), "Node") {
		m.Suspect(fmt.Sprintf("pod %s/%s is bound to node %s, %s after it got the taint %s",
			pod.Namespace, pod.Name, on, m.Time.Sub(since).Round(time.Millisecond), karpenter.DisruptedTaint), pod, node)
	}
}

func (t *taintMonitor) judgeEviction(m *check.Moment, pod, node *history.Object) {
	nodeClaim := t.nodeClaimOf(node)
	if !deleting(node) && !deleting(nodeClaim) && (nodeClaim == nil || !isTrue(nodeClaim, karpenter.DisruptionReason)) {
		return // by somebody else than Karpenter
	}
	m.Tested()
	if !tainted(node) {
		m.Suspect(fmt.Sprintf("pod %s/%s is evicted from node %s, which lacks the taint %s",
			pod.Namespace, pod.Name, node.Name, karpenter.DisruptedTaint), pod, node)
	}
}

// judgeGivenUp judges a node that still has the taint some time after its disruption was given up.
func (t *taintMonitor) judgeGivenUp(m *check.Moment, name string) {
	node := m.World.Get(karpenter.Nodes, "", name)
	if node == nil || deleting(node) {
		return
	}
	nodeClaim := t.nodeClaimOf(node)
	if !deleting(nodeClaim) && (nodeClaim == nil || !isTrue(nodeClaim, karpenter.DisruptionReason)) {
		m.Suspect(fmt.Sprintf("node %s has the taint %s still, %s after its disruption was given up", name, karpenter.DisruptedTaint, giveUpLag), node, nodeClaim)
	}
}
