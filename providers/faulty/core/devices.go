package core

import (
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/plumbline-e2e/plumbline/providers/faulty/lie"
)

// devicesLies returns the lies about devices that pods claim.
func devicesLies() map[string]lie.Lie {
	return map[string]lie.Lie{
		"forgets-ignore-dra-requests": {Settings: map[string]string{"IGNORE_DRA_REQUESTS": "true"}},
		"forgets-allocated-devices": reads(func(claim *resourcev1.ResourceClaim) {
			claim.Status.Allocation = nil
		}),
		"takes-devices-for-everywhere": reads(func(slice *resourcev1.ResourceSlice) {
			if slice.Spec.NodeSelector != nil {
				slice.Spec.NodeSelector, slice.Spec.AllNodes = nil, new(true)
			}
		}),
		"overlooks-device-claims": reads(func(pod *corev1.Pod) { pod.Spec.ResourceClaims = nil }, provisioning),
	}
}
