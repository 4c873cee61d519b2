package invariant

import (
	"time"

	"golang.org/x/mod/semver"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// reasonsAreTrue checks that Karpenter says for which reason it disrupts a node, and that the
// node is as the reason says:
//
//   - Empty: no pod runs on it that would have to move. Daemons, static pods and pods that
//     have ended or are ending stay behind.
//   - Drifted: its NodeClaim has drifted.
//
// Budgets by reason and the policy WhenEmpty mean nothing otherwise. Karpenter may not know
// what has changed within the last seconds. The condition DisruptionReason came with v1.5.
//
// A NodeClaim is disrupted if its node has the disrupted taint before its deletion begins, or if
// it is rebooted. What somebody else deletes gets the taint later. What is deleted with its NodePool, or since it has
// expired, is not judged: that may come between the taint and the reason.
func reasonsAreTrue() Invariant {
	return Invariant{
		Name: "the reasons of disruptions are said, and true",
		Source: "spec.disruption of the NodePool API; condition DisruptionReason of the NodeClaim API; " +
			"Karpenter: pkg/controllers/disruption/queue.go, markDisrupted, repair.go, commitReboot, emptiness.go, drift.go",
		Untested: "no node was disrupted",
		Reads:    resources{karpenter.Pods, karpenter.Nodes, karpenter.NodeClaims, karpenter.NodePools},
		New: func(p Params) check.Monitor {
			return &reasonMonitor{
				nodeIndex: newNodeIndex(), pods: podsOnNodes{}, drifted: map[string]time.Time{}, reasoned: map[string]bool{},
				must: p.Core != "" && semver.Compare(p.Core, firstWithReasons) >= 0,
			}
		},
	}
}

// firstWithReasons is the first release of core whose NodeClaims have the condition DisruptionReason.
const firstWithReasons = "v1.5.0"

type reasonMonitor struct {
	nodeIndex
	pods     podsOnNodes
	drifted  map[string]time.Time // when NodeClaims were seen to have drifted last, by name
	reasoned map[string]bool      // NodeClaims that have had a reason, by UID
	must     bool                 // the release says reasons
}

func (r *reasonMonitor) Observe(m *check.Moment) {
	r.observe(m)
	r.pods.observe(m)
	for _, nodeClaim := range m.Seen(karpenter.NodeClaims) {
		if isTrue(nodeClaim, karpenter.DisruptionReason) {
			r.reasoned[nodeClaim.UID] = true
		}
		if isTrue(nodeClaim, karpenter.Drifted) || m.Before != nil && isTrue(m.Before, karpenter.Drifted) {
			r.drifted[nodeClaim.Name] = m.Time
		}
	}
	if m.Resource() != karpenter.NodeClaims {
		return
	}
	if r.must {
		r.judgeSilence(m)
	}
	if !becomesTrue(m, karpenter.DisruptionReason) {
		return
	}
	switch nodeClaim := m.Event.Object; voluntaryReason(nodeClaim.Unstructured()) {
	case empty:
		r.judgeEmpty(m, nodeClaim)
	case drifted:
		m.Tested()
		if last, once := r.drifted[nodeClaim.Name]; !once || m.Time.Sub(last) > stale {
			m.Suspect("NodeClaim %s is disrupted (%s), but has not drifted", nodeClaim, drifted)
		}
	}
}

// judgeSilence judges the moment when a reboot begins, or the deletion of what has been tainted
// before. A stale write may have dropped the reason since (see staleWrites).
func (r *reasonMonitor) judgeSilence(m *check.Moment) {
	nodeClaim, what := m.Event.Object, ""
	node := r.nodeOf(nodeClaim)
	switch {
	case m.Deleted() || m.Before == nil || isDeleting(m.Before):
		return
	case becomesTrue(m, karpenter.Rebooting):
		what = "is rebooted"
	case goesWithPool(m.World, nodeClaim) || isExpired(nodeClaim, m.Time):
		return
	case isDeleting(nodeClaim) && node != nil && !isDeleting(node) && hasDisruptedTaint(node):
		what = "is being deleted to disrupt its node"
	default:
		return
	}
	m.Tested()
	if !r.reasoned[nodeClaim.UID] {
		m.Suspect("NodeClaim %s %s, but has no condition %s that says why", nodeClaim, what, karpenter.DisruptionReason).
			Beside(node)
	}
}

// goesWithPool reports whether the NodePool of a NodeClaim is being deleted, or gone.
func goesWithPool(w *history.World, nodeClaim *history.Object) bool {
	name := nodeClaim.Unstructured().GetLabels()[karpenter.NodePoolLabel]
	pool := w.Get(karpenter.NodePools, "", name)
	return name != "" && (pool == nil || isDeleting(pool))
}

func (r *reasonMonitor) judgeEmpty(m *check.Moment, nodeClaim *history.Object) {
	m.Tested()
	for _, pod := range r.pods.podsOf(karpenter.NodeClaimNode(nodeClaim.Unstructured())) {
		if mustMove(pod.Unstructured()) && m.Time.Sub(pod.since) > stale {
			m.Suspect("the node of NodeClaim %s is disrupted (%s) although pod %s runs on it", nodeClaim, empty, pod.Object).
				Beside(pod.Object)
		}
	}
}

// mustMove reports whether a pod would have to move if its node were removed (Karpenter:
// pkg/utils/pod/scheduling.go, IsReschedulable).
func mustMove(pod *unstructured.Unstructured) bool {
	return isActive(pod) && !ownedBy(pod, "DaemonSet") && !ownedBy(pod, "Node")
}
