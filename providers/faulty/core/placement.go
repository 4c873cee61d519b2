package core

import (
	corev1 "k8s.io/api/core/v1"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"

	"github.com/plumbline-e2e/plumbline/providers/faulty/lie"
)

// placementLies returns the lies about affinity and topology spread.
func placementLies() map[string]lie.Lie {
	return map[string]lie.Lie{
		"overlooks-node-affinity-at-first": atFirst(func(pod *corev1.Pod) { affinityOf(pod).NodeAffinity = nil }),
		"overlooks-pod-affinity-at-first":  atFirst(func(pod *corev1.Pod) { affinityOf(pod).PodAffinity = nil }),
		"overlooks-pod-affinity":           reads(func(pod *corev1.Pod) { affinityOf(pod).PodAffinity = nil }, provisioning),
		"overlooks-pod-anti-affinity-at-first": atFirst(func(pod *corev1.Pod) {
			affinityOf(pod).PodAntiAffinity = nil
		}),
		"overlooks-labels-of-pods-at-first": atFirst(func(pod *corev1.Pod) { pod.Labels = nil }),
		"overlooks-spreads-at-first":        atFirst(func(pod *corev1.Pod) { pod.Spec.TopologySpreadConstraints = nil }),
		"ignores-node-taints-policies": atFirst(func(pod *corev1.Pod) {
			for i := range pod.Spec.TopologySpreadConstraints {
				pod.Spec.TopologySpreadConstraints[i].NodeTaintsPolicy = nil
			}
		}),
		"overlooks-preferences": reads(func(pod *corev1.Pod) {
			if affinity := affinityOf(pod).NodeAffinity; affinity != nil {
				affinity.PreferredDuringSchedulingIgnoredDuringExecution = nil
			}
		}, provisioning),
		"takes-preferences-for-demands": atFirst(demand),
		"takes-requirements-for-hints": reads(func(pool *v1.NodePool) {
			for i, r := range pool.Spec.Template.Spec.Requirements {
				if !v1.WellKnownLabels.Has(r.Key) {
					r.Operator, r.Values = corev1.NodeSelectorOpExists, nil
					pool.Spec.Template.Spec.Requirements[i] = r
				}
			}
		}, provisioning),
	}
}

// affinityOf returns a pod's affinity. It adds an empty one if there is none.
func affinityOf(pod *corev1.Pod) *corev1.Affinity {
	if pod.Spec.Affinity == nil {
		pod.Spec.Affinity = &corev1.Affinity{}
	}
	return pod.Spec.Affinity
}

// demand makes a pod require what it prefers.
func demand(pod *corev1.Pod) {
	for i := range pod.Spec.TopologySpreadConstraints {
		pod.Spec.TopologySpreadConstraints[i].WhenUnsatisfiable = corev1.DoNotSchedule
	}
	affinity := affinityOf(pod)
	if node := affinity.NodeAffinity; node != nil && len(node.PreferredDuringSchedulingIgnoredDuringExecution) > 0 {
		wanted := &corev1.NodeSelector{}
		for _, wish := range node.PreferredDuringSchedulingIgnoredDuringExecution {
			wanted.NodeSelectorTerms = append(wanted.NodeSelectorTerms, wish.Preference)
		}
		node.RequiredDuringSchedulingIgnoredDuringExecution = wanted
	}
	if near := affinity.PodAffinity; near != nil {
		for _, wish := range near.PreferredDuringSchedulingIgnoredDuringExecution {
			near.RequiredDuringSchedulingIgnoredDuringExecution = append(near.RequiredDuringSchedulingIgnoredDuringExecution,
				wish.PodAffinityTerm)
		}
	}
	if apart := affinity.PodAntiAffinity; apart != nil {
		for _, wish := range apart.PreferredDuringSchedulingIgnoredDuringExecution {
			apart.RequiredDuringSchedulingIgnoredDuringExecution = append(apart.RequiredDuringSchedulingIgnoredDuringExecution,
				wish.PodAffinityTerm)
		}
	}
}
