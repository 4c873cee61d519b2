package invariant

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// reasonsAreTrue checks that a node is as the reason of its disruption says:
//
//   - Empty: no pod runs on it that would have to move. Daemons, static pods and pods that
//     have ended or are ending stay behind.
//   - Drifted: its NodeClaim has drifted.
//
// Budgets by reason and the policy WhenEmpty mean nothing otherwise. Karpenter may not know
// what has changed within the last seconds. The condition DisruptionReason came with v1.5.
func reasonsAreTrue() Invariant {
	return Invariant{
		Name: "the reasons of disruptions are true",
		Source: "spec.disruption of the NodePool API; condition DisruptionReason of the NodeClaim API; " +
			"Karpenter: pkg/controllers/disruption/emptiness.go, drift.go",
		Untested: "no node was disrupted as empty or drifted",
		Reads:    resources{karpenter.Pods, karpenter.NodeClaims},
		New:      func(Params) check.Monitor { return &reasonMonitor{podsOnNodes{}, map[string]time.Time{}} },
	}
}

type reasonMonitor struct {
	pods    podsOnNodes
	drifted map[string]time.Time // when NodeClaims were seen to have drifted last, by name
}

func (r *reasonMonitor) Observe(m *check.Moment) {
	r.pods.observe(m)
	for _, nodeClaim := range m.Seen(karpenter.NodeClaims) {
		if isTrue(nodeClaim, karpenter.Drifted) || m.Before != nil && isTrue(m.Before, karpenter.Drifted) {
			r.drifted[nodeClaim.Name] = m.Time
		}
	}
	if m.Resource() != karpenter.NodeClaims || !becomesTrue(m, karpenter.DisruptionReason) {
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
