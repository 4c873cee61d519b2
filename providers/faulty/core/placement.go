package core

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"

	"github.com/plumbline-e2e/plumbline/providers/faulty/lie"
)

// placementLies returns the lies about affinity.
func placementLies() map[string]lie.Lie {
	return map[string]lie.Lie{
		"overlooks-node-affinity-at-first": atFirst(func(pod *corev1.Pod) { affinityOf(pod).NodeAffinity = nil }),
		"takes-the-first-alternative-at-first": atFirst(func(pod *corev1.Pod) {
			node := affinityOf(pod).NodeAffinity
			if node != nil && node.RequiredDuringSchedulingIgnoredDuringExecution != nil {
				required := node.RequiredDuringSchedulingIgnoredDuringExecution
				required.NodeSelectorTerms = required.NodeSelectorTerms[:min(1, len(required.NodeSelectorTerms))]
			}
		}),
		"overlooks-pod-affinity-at-first": atFirst(func(pod *corev1.Pod) { affinityOf(pod).PodAffinity = nil }),
		"overlooks-pod-affinity":          reads(func(pod *corev1.Pod) { affinityOf(pod).PodAffinity = nil }, provisioning),
		"overlooks-pod-anti-affinity-at-first": atFirst(func(pod *corev1.Pod) {
			affinityOf(pod).PodAntiAffinity = nil
		}),
		"forgets-exclusions-by-ending-pods": reads(func(pod *corev1.Pod) {
			if pod.DeletionTimestamp != nil {
				affinityOf(pod).PodAntiAffinity = nil
			}
		}, rememberingPods, rememberingNodes),
		"overlooks-labels-of-pods-at-first": atFirst(func(pod *corev1.Pod) { pod.Labels = nil }),
		"overlooks-preferences": reads(func(pod *corev1.Pod) {
			if affinity := affinityOf(pod).NodeAffinity; affinity != nil {
				affinity.PreferredDuringSchedulingIgnoredDuringExecution = nil
			}
		}, provisioning),
		"takes-preferences-for-demands":    atFirst(demand),
		"overlooks-preferences-about-pods": reads(dropPreferencesAboutPods, provisioning),
		"overlooks-expressions-about-pods-at-first": atFirst(func(pod *corev1.Pod) {
			for _, term := range termsOf(pod) {
				if term.LabelSelector != nil {
					term.LabelSelector.MatchExpressions = nil
				}
			}
			for _, constraint := range pod.Spec.TopologySpreadConstraints {
				if constraint.LabelSelector != nil {
					constraint.LabelSelector.MatchExpressions = nil
				}
			}
		}),
		"overlooks-namespaces-of-terms-at-first": atFirst(func(pod *corev1.Pod) {
			for _, term := range termsOf(pod) {
				term.Namespaces, term.NamespaceSelector = nil, nil
			}
		}),
		"looks-into-all-namespaces-at-first": atFirst(func(pod *corev1.Pod) {
			for _, term := range termsOf(pod) {
				term.NamespaceSelector = &metav1.LabelSelector{}
			}
		}),
		"takes-types-for-hints": reads(takeForHints(func(key string) bool {
			return key == corev1.LabelInstanceTypeStable
		}), provisioning),
		"takes-requirements-for-hints": reads(takeForHints(func(key string) bool {
			return !v1.WellKnownLabels.Has(key)
		}), provisioning),
	}
}

// takeForHints makes a pool's requirements on some labels allow every value.
func takeForHints(some func(key string) bool) func(*v1.NodePool) {
	return func(pool *v1.NodePool) {
		for i, r := range pool.Spec.Template.Spec.Requirements {
			if some(r.Key) {
				r.Operator, r.Values = corev1.NodeSelectorOpExists, nil
				pool.Spec.Template.Spec.Requirements[i] = r
			}
		}
	}
}

// spreadLies returns the lies about topology spread constraints.
func spreadLies() map[string]lie.Lie {
	return map[string]lie.Lie{
		"overlooks-spreads-at-first": atFirst(func(pod *corev1.Pod) { pod.Spec.TopologySpreadConstraints = nil }),
		"overlooks-spreads": reads(func(pod *corev1.Pod) {
			pod.Spec.TopologySpreadConstraints = nil
		}, provisioning),
		"counts-finished-pods": reads(func(pod *corev1.Pod) {
			if pod.Status.Phase == corev1.PodSucceeded {
				pod.Status.Phase = corev1.PodRunning
			}
		}, provisioning),
		"ignores-node-taints-policies": atFirst(func(pod *corev1.Pod) {
			for i := range pod.Spec.TopologySpreadConstraints {
				pod.Spec.TopologySpreadConstraints[i].NodeTaintsPolicy = nil
			}
		}),
		"ignores-node-affinity-policies": atFirst(func(pod *corev1.Pod) {
			for i := range pod.Spec.TopologySpreadConstraints {
				pod.Spec.TopologySpreadConstraints[i].NodeAffinityPolicy = new(corev1.NodeInclusionPolicyIgnore)
			}
		}),
	}
}

// affinityOf returns a pod's affinity. It adds an empty one if there is none.
func affinityOf(pod *corev1.Pod) *corev1.Affinity {
	if pod.Spec.Affinity == nil {
		pod.Spec.Affinity = &corev1.Affinity{}
	}
	return pod.Spec.Affinity
}

// termsOf returns the terms that a pod's affinity and anti-affinity require.
func termsOf(pod *corev1.Pod) []*corev1.PodAffinityTerm {
	var all []*corev1.PodAffinityTerm
	if near := affinityOf(pod).PodAffinity; near != nil {
		for i := range near.RequiredDuringSchedulingIgnoredDuringExecution {
			all = append(all, &near.RequiredDuringSchedulingIgnoredDuringExecution[i])
		}
		for i := range near.PreferredDuringSchedulingIgnoredDuringExecution {
			all = append(all, &near.PreferredDuringSchedulingIgnoredDuringExecution[i].PodAffinityTerm)
		}
	}
	if apart := affinityOf(pod).PodAntiAffinity; apart != nil {
		for i := range apart.RequiredDuringSchedulingIgnoredDuringExecution {
			all = append(all, &apart.RequiredDuringSchedulingIgnoredDuringExecution[i])
		}
		for i := range apart.PreferredDuringSchedulingIgnoredDuringExecution {
			all = append(all, &apart.PreferredDuringSchedulingIgnoredDuringExecution[i].PodAffinityTerm)
		}
	}
	return all
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

// dropPreferencesAboutPods removes what a pod would rather have of other pods.
func dropPreferencesAboutPods(pod *corev1.Pod) {
	if near := affinityOf(pod).PodAffinity; near != nil {
		near.PreferredDuringSchedulingIgnoredDuringExecution = nil
	}
	if apart := affinityOf(pod).PodAntiAffinity; apart != nil {
		apart.PreferredDuringSchedulingIgnoredDuringExecution = nil
	}
}
