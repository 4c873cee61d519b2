package core

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"

	"github.com/plumbline-e2e/plumbline/providers/faulty/lie"
)

// controlLies returns the lies about do-not-disrupt annotations.
func controlLies() map[string]lie.Lie {
	return map[string]lie.Lie{
		"protects-for-ever": reads(func(pod *corev1.Pod) {
			if _, err := time.ParseDuration(pod.Annotations[v1.DoNotDisruptAnnotationKey]); err == nil {
				pod.Annotations[v1.DoNotDisruptAnnotationKey] = "true"
			}
		}, disrupting, evicting),
		"takes-any-word-for-true": reads(func(pod *corev1.Pod) {
			if _, said := pod.Annotations[v1.DoNotDisruptAnnotationKey]; said {
				pod.Annotations[v1.DoNotDisruptAnnotationKey] = "true"
			}
		}, disrupting, evicting),
		"honours-do-not-evict": reads(func(pod *corev1.Pod) {
			if pod.Annotations["karpenter.sh/do-not-evict"] == "true" {
				pod.Annotations[v1.DoNotDisruptAnnotationKey] = "true"
			}
		}, disrupting, evicting),
		"honours-do-not-consolidate": reads(func(node *corev1.Node) {
			if node.Annotations["karpenter.sh/do-not-consolidate"] == "true" {
				node.Annotations[v1.DoNotDisruptAnnotationKey] = "true"
			}
		}, rememberingNodes),
	}
}
