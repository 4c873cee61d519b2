package check

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// InProgress reports whether something goes on in a cluster: a NodeClaim is launched or ended, a pod ends, or a pod has
// waited for less than patience for a node.
func InProgress(w *history.World, patience time.Duration) bool {
	for _, claim := range w.List(karpenter.NodeClaims) {
		u := claim.Unstructured()
		if karpenter.Deleting(u) || !karpenter.IsTrue(u, karpenter.Initialized) {
			return true
		}
	}
	for _, pod := range w.List(karpenter.Pods) {
		u := pod.Unstructured()
		waits := karpenter.PodPhase(u) == corev1.PodPending && time.Since(u.GetCreationTimestamp().Time) < patience
		if karpenter.Deleting(u) || waits {
			return true
		}
	}
	return false
}
