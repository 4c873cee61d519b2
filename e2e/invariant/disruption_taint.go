package invariant

import (
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

const (
	// schedulerLag is how long after the taint the scheduler may still bind a pod, since it
	// decided before. Karpenter allows for it (pkg/controllers/node/termination,
	// MinDrainTime).
	schedulerLag = 2 * time.Second
	// giveUpLag is how long a node may keep the taint after its disruption was given up.
	// Karpenter removes both at once, and retries within 10 s (Karpenter:
	// pkg/controllers/disruption, pollingPeriod).
	giveUpLag = 30 * time.Second
)

// taintedFirst checks that a node that Karpenter disrupts has the disrupted taint before its
// deletion begins, before any pod is evicted from it, and until it is gone. No pod is bound to
// it after the taint. The taint goes away if the disruption is given up. Otherwise pods move
// to a node that is about to go, or a node stays out of use forever.
//
// A node that is rebooted in place stays. Before a pod is evicted from it, it has the taint for
// reboots instead (since v1.15).
//
// A pod's condition DisruptionTarget marks an eviction (Kubernetes: EvictionByEvictionAPI).
// The NodeClaim's condition DisruptionReason shows that a disruption began or was given up.
// Releases before v1.5 lack it; there that part is not judged.
func taintedFirst() Invariant {
	return Invariant{
		Name: "nodes are tainted before they are disrupted, and until they are gone",
		Source: "karpenter.sh/disrupted taint, NodeClaim condition DisruptionReason; designs/disruption-controls.md; " +
			"Karpenter: pkg/controllers/disruption/queue.go, markDisrupted; pkg/controllers/node/termination",
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
	for _, name := range t.givenUp.expired(m.Time) {
		if node := m.World.Get(karpenter.Nodes, "", name); node != nil {
			m.Suspect("node %s has the taint %s still, %s after its disruption was given up",
				node, karpenter.DisruptedTaint, giveUpLag).Beside(t.nodeClaimOf(node))
		}
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
	had, has := hasDisruptedTaint(m.Before), hasDisruptedTaint(node) && !m.Deleted()
	if m.Deleted() || !has || isDeleting(node) {
		t.givenUp.stop(node.Name)
	}
	switch {
	case has && !had:
		t.since[node.Name] = m.Time
	case had && !has:
		delete(t.since, node.Name)
		if !m.Deleted() && isDeleting(m.Before) && isDeleting(node) {
			m.Broken("node %s is being deleted and loses the taint %s", node, karpenter.DisruptedTaint)
		}
	}
}

// nodeClaim judges the start of a deletion, and notes a disruption that is given up.
func (t *taintMonitor) nodeClaim(m *check.Moment, nodeClaim *history.Object) {
	node := t.nodeOf(nodeClaim)
	if node == nil || m.Deleted() {
		return
	}
	if isDeleting(nodeClaim) || isTrue(nodeClaim, karpenter.DisruptionReason) {
		t.givenUp.stop(node.Name)
	}
	if m.Before == nil || isDeleting(m.Before) || !isTrue(m.Before, karpenter.DisruptionReason) {
		return
	}
	switch {
	case isDeleting(nodeClaim) && forReboot(m.Before):
		// A reboot, and no disruption, has given the reason. Somebody else deletes it.
	case isDeleting(nodeClaim):
		m.Tested()
		if !hasDisruptedTaint(node) {
			m.Suspect("NodeClaim %s is being deleted to disrupt node %s, which lacks the taint %s",
				nodeClaim, node, karpenter.DisruptedTaint)
		}
	case !isTrue(nodeClaim, karpenter.DisruptionReason):
		m.Tested()
		if hasDisruptedTaint(node) && !isDeleting(node) {
			t.givenUp.set(node.Name, m.Time.Add(giveUpLag))
		}
	}
}

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
	late := is && m.Time.Sub(since) > schedulerLag
	if bound && late && !karpenter.ToleratesDisruption(pod.Unstructured()) && !ownedBy(pod.Unstructured(), "Node") {
		m.Suspect("pod %s is bound to node %s, %s after it got the taint %s",
			pod, on, m.Time.Sub(since).Round(time.Millisecond), karpenter.DisruptedTaint).Beside(node)
	}
}

func (t *taintMonitor) judgeEviction(m *check.Moment, pod, node *history.Object) {
	nodeClaim := t.nodeClaimOf(node)
	chosen := nodeClaim != nil && isTrue(nodeClaim, karpenter.DisruptionReason)
	if !chosen && !isDeleting(node) && !isDeleting(nodeClaim) {
		return // not evicted by Karpenter
	}
	m.Tested()
	taint := karpenter.DisruptedTaint
	if chosen && forReboot(nodeClaim) && !isDeleting(node) && !isDeleting(nodeClaim) {
		taint = karpenter.RebootingTaint
	}
	if !karpenter.HasTaint(node.Unstructured(), taint) {
		m.Suspect("pod %s is evicted from node %s, which lacks the taint %s", pod, node, taint)
	}
}

// forReboot reports whether a NodeClaim has its DisruptionReason for a reboot, under way or over:
// both conditions begin together.
func forReboot(nodeClaim *history.Object) bool {
	reboot, was := karpenter.Condition(nodeClaim.Unstructured(), karpenter.Rebooting)
	reason, _ := karpenter.Condition(nodeClaim.Unstructured(), karpenter.DisruptionReason)
	return was && !reason.LastTransitionTime.After(reboot.LastTransitionTime.Time)
}
