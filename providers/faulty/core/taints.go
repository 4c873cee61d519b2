package core

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"

	"github.com/plumbline-e2e/plumbline/providers/faulty/lie"
)

// taintLies returns the lies about the taints and labels that a node has at each
// stage of its life.
func taintLies() map[string]lie.Lie {
	return map[string]lie.Lie{
		"taints-only-when-it-drains": writes(func(node *corev1.Node) {
			node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, func(t corev1.Taint) bool {
				return t.MatchTaint(&v1.DisruptedNoScheduleTaint)
			})
		}, disrupting),
		"overlooks-startup-taints": reads(func(node *corev1.Node) {
			if node.Labels[v1.NodeRegisteredLabelKey] == "true" {
				node.Spec.Taints = nil
			}
		}, lifecycle),
		"registers-without-a-label": writes(func(node *corev1.Node) {
			delete(node.Labels, v1.NodeRegisteredLabelKey)
		}, lifecycle),
	}
}
