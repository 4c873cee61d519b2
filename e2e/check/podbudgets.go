package check

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// HeldBy returns which PodDisruptionBudget keeps a pod on a node that is drained, in words; "" if none does
// (Kubernetes: pkg/registry/core/pod/storage/eviction.go).
func HeldBy(w *history.World, pod *history.Object) string {
	u := pod.Unstructured()
	switch karpenter.PodPhase(u) {
	case corev1.PodPending, corev1.PodSucceeded, corev1.PodFailed:
		return "" // budgets don't count these
	}
	if karpenter.Deleting(u) || karpenter.ToleratesDisruption(u) { // no drain waits for the latter
		return ""
	}
	for _, o := range w.List(karpenter.PodDisruptionBudgets) {
		budget := o.Unstructured()
		if o.Namespace == pod.Namespace && karpenter.PodBudgetSelector(budget).Matches(labels.Set(u.GetLabels())) &&
			karpenter.DisruptionsAllowed(budget) == 0 && (karpenter.PodReady(u) || !letsUnreadyGo(budget)) {
			return fmt.Sprintf("PodDisruptionBudget %s allows no disruption", o.Name)
		}
	}
	return ""
}

// letsUnreadyGo reports whether a budget lets pods be evicted that aren't ready: always, or while enough others are
// (spec.unhealthyPodEvictionPolicy).
func letsUnreadyGo(budget *unstructured.Unstructured) bool {
	policy, _, _ := unstructured.NestedString(budget.Object, "spec", "unhealthyPodEvictionPolicy")
	current, _, _ := unstructured.NestedInt64(budget.Object, "status", "currentHealthy")
	desired, _, _ := unstructured.NestedInt64(budget.Object, "status", "desiredHealthy")
	return policy == string(policyv1.AlwaysAllow) || current >= desired && desired > 0
}
