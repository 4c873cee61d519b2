package karpenter

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
)

// PodBudgetSelector returns spec.selector of a PodDisruptionBudget (policy/v1). An empty one covers all pods of the
// namespace; none, and an unreadable one, cover no pod.
func PodBudgetSelector(budget *unstructured.Unstructured) labels.Selector {
	spec, there := child(budget.Object, "spec")["selector"].(map[string]any)
	if !there {
		return labels.Nothing()
	}
	var typed metav1.LabelSelector
	if runtime.DefaultUnstructuredConverter.FromUnstructured(spec, &typed) != nil {
		return labels.Nothing()
	}
	selector, err := metav1.LabelSelectorAsSelector(&typed)
	if err != nil {
		return labels.Nothing()
	}
	return selector
}

// DisruptionsAllowed returns how many pods may be evicted now, by status.disruptionsAllowed of a PodDisruptionBudget.
func DisruptionsAllowed(budget *unstructured.Unstructured) int64 {
	return integer(child(budget.Object, "status"), "disruptionsAllowed")
}
