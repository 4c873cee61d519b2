package core

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/providers/faulty/lie"
)

// triggering is the controller that opens a batch when a pod begins to wait.
const triggering = "provisioner.trigger.pod"

// waitingLies returns the lies about which pods wait for Karpenter.
func waitingLies() map[string]lie.Lie {
	return map[string]lie.Lie{
		"overlooks-preemption": reads(func(pod *corev1.Pod) {
			pod.Status.NominatedNodeName = ""
		}, provisioning, triggering),
		"takes-important-pods-for-preempting": reads(func(pod *corev1.Pod) {
			if p := pod.Spec.Priority; p != nil && *p > 0 && pod.Spec.NodeName == "" {
				pod.Status.NominatedNodeName = "any"
			}
		}, provisioning, triggering),
		"takes-new-pods-for-unschedulable": reads(func(pod *corev1.Pod) {
			if len(pod.Status.Conditions) == 0 && pod.Spec.NodeName == "" {
				pod.Status.Conditions = []corev1.PodCondition{{
					Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
				}}
			}
		}, provisioning),
	}
}
