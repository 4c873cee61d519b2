package invariant

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// unreplacedPod returns a pod for which a NodeClaim certainly had to be replaced before its
// deletion, which begins now; nil if there is none. Karpenter deletes a drifted or
// underutilized NodeClaim without replacement only if its pods fit elsewhere (Karpenter:
// pkg/controllers/disruption, drift.go and consolidation.go). They certainly do not if there
// is no other NodeClaim, and no other node may take them.
//
// since is when the disruption began. Karpenter counted pods that were bound long before. Pods
// that an annotation or a PodDisruptionBudget may hold do not count (Karpenter: pkg/utils/pdb,
// IsCurrentlyReschedulable).
//
// Not judged are NodeClaims of static pools, and on reserved instances, which may end before
// their replacement (upstream issue 3203).
func unreplacedPod(w *history.World, nodeClaim *history.Object, since time.Time) *history.Object {
	u := nodeClaim.Unstructured()
	why, on := voluntaryReason(u), karpenter.NodeClaimNode(u)
	pool := w.Get(karpenter.NodePools, "", karpenter.NodePoolOf(u))
	if why != drifted && why != underutilized || on == "" || pool == nil ||
		fieldAt(pool.Unstructured(), "spec", "replicas") != nil ||
		karpenter.Label(u, karpenter.CapacityTypeLabel) == karpenter.Reserved {
		return nil
	}
	if slices.ContainsFunc(w.List(karpenter.NodeClaims), func(other *history.Object) bool { return !isDeleting(other) }) {
		return nil
	}
	for _, pod := range w.List(karpenter.Pods) {
		p := pod.Unstructured()
		if karpenter.PodNode(p) == on && movesWithNode(p, since) && !mayMove(w, p, on) && !mayBeHeld(w, pod) {
			return pod
		}
	}
	return nil
}

// movesWithNode reports whether a pod must move with its node, and was bound long before.
func movesWithNode(pod *unstructured.Unstructured, since time.Time) bool {
	bound, _ := karpenter.Condition(pod, string(corev1.PodScheduled))
	return bound.Status == "True" && bound.LastTransitionTime.Time.Before(since.Add(-stale)) &&
		isActive(pod) && isDrained(pod) && !ownedBy(pod, "DaemonSet")
}

// mayBeHeld reports whether something may keep a pod from being evicted.
func mayBeHeld(w *history.World, pod *history.Object) bool {
	beside := func(o *history.Object) bool { return o.Namespace == pod.Namespace }
	return fieldAt(pod.Unstructured(), "metadata", "annotations", karpenter.DoNotDisruptAnnotation) != nil ||
		slices.ContainsFunc(w.List(karpenter.PodDisruptionBudgets), beside)
}

// mayMove reports whether the taints of another node may let a pod in.
func mayMove(w *history.World, pod *unstructured.Unstructured, on string) bool {
	bars := func(t corev1.Taint) bool {
		return t.Effect != corev1.TaintEffectPreferNoSchedule && !mayTolerate(pod, t.Key)
	}
	return slices.ContainsFunc(w.List(karpenter.Nodes), func(node *history.Object) bool {
		return node.Name != on && !isDeleting(node) && !slices.ContainsFunc(karpenter.Taints(node.Unstructured()), bars)
	})
}

// mayTolerate reports whether a pod tolerates at least some taints of this key.
func mayTolerate(pod *unstructured.Unstructured, key string) bool {
	return slices.ContainsFunc(objectsAt(pod, "spec", "tolerations"), func(t map[string]any) bool {
		k, _ := t["key"].(string)
		return k == "" || k == key
	})
}
