package core

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"

	"github.com/plumbline-e2e/plumbline/providers/faulty/lie"
)

// choiceLies returns the lies about which pools can serve a pod.
func choiceLies() map[string]lie.Lie {
	return map[string]lie.Lie{
		"takes-pools-for-ready-at-first": firstSight(func(pool *v1.NodePool) {
			for i := range pool.Status.Conditions {
				pool.Status.Conditions[i].Status = metav1.ConditionTrue
			}
		}, provisioning),
		"overlooks-taints-of-pools-at-first": firstSight(func(pool *v1.NodePool) {
			pool.Spec.Template.Spec.Taints = nil
		}, provisioning),
		"overlooks-types-of-pools-at-first": firstSight(func(pool *v1.NodePool) {
			pool.Spec.Template.Spec.Requirements = slices.DeleteFunc(pool.Spec.Template.Spec.Requirements,
				func(r v1.NodeSelectorRequirementWithMinValues) bool { return r.Key == corev1.LabelInstanceTypeStable })
		}, provisioning),
		"ignores-min-values": reads(func(pool *v1.NodePool) {
			for i := range pool.Spec.Template.Spec.Requirements {
				pool.Spec.Template.Spec.Requirements[i].MinValues = nil
			}
		}, provisioning),
	}
}
