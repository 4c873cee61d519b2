package core

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/providers/faulty/lie"
)

// hostPortLies returns the lies about host ports.
func hostPortLies() map[string]lie.Lie {
	return map[string]lie.Lie{
		"overlooks-host-ports-at-first": atFirst(func(pod *corev1.Pod) {
			for i := range pod.Spec.Containers {
				pod.Spec.Containers[i].Ports = nil
			}
		}),
		"tells-ports-by-number": reads(func(pod *corev1.Pod) {
			for _, container := range pod.Spec.Containers {
				for i := range container.Ports {
					container.Ports[i].Protocol, container.Ports[i].HostIP = corev1.ProtocolTCP, ""
				}
			}
		}, provisioning),
	}
}
