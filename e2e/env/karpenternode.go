package env

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// requireKarpenterNode adds a node affinity to an object's pods, so that they need a node from
// Karpenter. Unlike a node selector it combines with the pods' own requirements. The label is
// the capacity type: all Karpenter nodes have it, even without a NodePool, and pods may ask
// for it. They may not ask for the host name.
func requireKarpenterNode(o *unstructured.Unstructured) error {
	path := []string{"spec"}
	if o.GetKind() != "Pod" {
		path = []string{"spec", "template", "spec"}
		if _, found, _ := unstructured.NestedSlice(o.Object, append(path, "containers")...); !found {
			return nil
		}
	}
	content, _, err := unstructured.NestedMap(o.Object, path...)
	if err != nil || content["nodeName"] != nil {
		return err
	}
	var spec corev1.PodSpec
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(content, &spec); err != nil {
		return err
	}
	if spec.Affinity == nil {
		spec.Affinity = &corev1.Affinity{}
	}
	if spec.Affinity.NodeAffinity == nil {
		spec.Affinity.NodeAffinity = &corev1.NodeAffinity{}
	}
	required := &spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	if *required == nil {
		*required = &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{}}}
	}
	ours := corev1.NodeSelectorRequirement{Key: karpenter.CapacityTypeLabel, Operator: corev1.NodeSelectorOpExists}
	for i := range (*required).NodeSelectorTerms { // a node needs to match only one of them
		term := &(*required).NodeSelectorTerms[i]
		term.MatchExpressions = append(term.MatchExpressions, ours)
	}
	affinity, err := runtime.DefaultUnstructuredConverter.ToUnstructured(spec.Affinity)
	if err != nil {
		return err
	}
	return unstructured.SetNestedMap(o.Object, affinity, append(path, "affinity")...)
}
