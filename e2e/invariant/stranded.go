package invariant

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// stranded is a pod for which a NodeClaim had to be replaced before its deletion, which
// begins now; nil if there is none, or perhaps none. What has drifted or is
// underutilized is deleted without replacement only if its pods fit elsewhere
// (Karpenter: pkg/controllers/disruption, drift.go and consolidation.go), and whether
// they do is certain only where no other NodeClaim is there and no other node may take
// them. since is when the disruption began; what was bound much earlier was counted.
// Pods that can't be evicted yet aren't, so none that any annotation or
// PodDisruptionBudget may hold (Karpenter: pkg/utils/pdb, IsCurrentlyReschedulable).
//
// Not judged are NodeClaims of static pools, and on reserved instances, which may be
// ended first and replaced then (upstream issue 3203).
func stranded(w *history.World, claim *history.Object, since time.Time) *history.Object {
	u := claim.Unstructured()
	why, on := voluntaryReason(u), karpenter.ClaimNode(u)
	pool := w.Get(karpenter.NodePools, "", karpenter.NodePoolOf(u))
	if why != drifted && why != underutilized || on == "" || pool == nil || value(pool.Unstructured(), "spec", "replicas") != nil ||
		karpenter.Label(u, karpenter.CapacityTypeLabel) == karpenter.Reserved {
		return nil
	}
	for _, other := range w.List(karpenter.NodeClaims) {
		if !deleting(other) {
			return nil
		}
	}
	for _, pod := range w.List(karpenter.Pods) {
		p := pod.Unstructured()
		if karpenter.PodNode(p) == on && counts(p, since) && !mayGo(w, pod, on) && !mayBeHeld(w, pod) {
			return pod
		}
	}
	return nil
}

// counts says whether a pod is one that moves with its node, and was there long before
// that.
func counts(pod *unstructured.Unstructured, since time.Time) bool {
	bound, _ := karpenter.Condition(pod, string(corev1.PodScheduled))
	return bound.Status == "True" && bound.LastTransitionTime.Time.Before(since.Add(-stale)) &&
		active(pod) && drains(pod) && !ownedBy(pod, "DaemonSet")
}

// mayBeHeld says whether something may keep a pod from being evicted.
func mayBeHeld(w *history.World, pod *history.Object) bool {
	return value(pod.Unstructured(), "metadata", "annotations", karpenter.DoNotDisruptAnnotation) != nil ||
		slices.ContainsFunc(w.List(karpenter.PodDisruptionBudgets), func(o *history.Object) bool { return o.Namespace == pod.Namespace })
}

// mayGo says whether a pod may be allowed on another node than the one that it is on.
func mayGo(w *history.World, pod *history.Object, on string) bool {
	for _, node := range w.List(karpenter.Nodes) {
		if node.Name == on || deleting(node) {
			continue
		}
		barred := false
		for _, t := range karpenter.Taints(node.Unstructured()) {
			barred = barred || t.Effect != corev1.TaintEffectPreferNoSchedule && !mayTolerate(pod, t.Key)
		}
		if !barred {
			return true
		}
	}
	return false
}

// mayTolerate says whether a pod tolerates taints of that key, some at least.
func mayTolerate(pod *history.Object, key string) bool {
	for _, t := range list(pod.Unstructured(), "spec", "tolerations") {
		if k, _ := t["key"].(string); k == "" || k == key {
			return true
		}
	}
	return false
}
