package core

import (
	"sync"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/providers/faulty/lie"
)

// resizedLies returns the lies about pods whose requests change while they run.
func resizedLies() map[string]lie.Lie {
	return map[string]lie.Lie{
		"counts-only-what-pods-ask-for": reads(func(pod *corev1.Pod) {
			for i := range pod.Status.ContainerStatuses {
				pod.Status.ContainerStatuses[i].Resources = nil
			}
		}, rememberingPods, rememberingNodes),
		"counts-only-what-pods-hold": reads(func(pod *corev1.Pod) {
			for i, said := range pod.Status.ContainerStatuses {
				if said.Resources != nil {
					pod.Spec.Containers[i].Resources.Requests = said.Resources.Requests
				}
			}
		}, rememberingPods, rememberingNodes),
		"remembers-requests": remembersRequests(),
	}
}

// remembersRequests returns a lie: a running pod requests what it requested when it was first read.
func remembersRequests() lie.Lie {
	var first sync.Map // of types.UID to corev1.ResourceList
	return reads(func(pod *corev1.Pod) {
		requests, _ := first.LoadOrStore(pod.UID, pod.Spec.Containers[0].Resources.Requests.DeepCopy())
		pod.Spec.Containers[0].Resources.Requests = requests.(corev1.ResourceList).DeepCopy()
	}, rememberingPods, rememberingNodes)
}
