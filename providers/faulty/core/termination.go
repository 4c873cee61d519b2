package core

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plumbline-e2e/plumbline/providers/faulty/lie"
)

// terminationLies returns the lies about how a node is drained and terminated.
func terminationLies() map[string]lie.Lie {
	return map[string]lie.Lie{
		"evicts-critical-pods-with-the-rest": reads(func(pod *corev1.Pod) {
			pod.Spec.PriorityClassName = ""
		}, terminating),
		"takes-ending-pods-for-gone": reads(func(pod *corev1.Pod) {
			if pod.DeletionTimestamp != nil {
				pod.Status.Phase = corev1.PodSucceeded
			}
		}, terminating),
		"waits-for-pods-that-are-stuck": reads(func(pod *corev1.Pod) {
			if pod.DeletionTimestamp != nil {
				pod.DeletionTimestamp = &metav1.Time{Time: time.Now()}
			}
		}, terminating),
		"forgets-the-grace-periods-of-pods": reads(func(pod *corev1.Pod) {
			pod.Spec.TerminationGracePeriodSeconds = new(int64(0))
		}, terminating, evicting),
		"drains-pods-that-tolerate-it": reads(func(pod *corev1.Pod) {
			pod.Spec.Tolerations = nil
		}, terminating, evicting),
		"overlooks-volumes": reads(func(attachment *storagev1.VolumeAttachment) {
			attachment.Spec.Source.PersistentVolumeName = nil
		}, terminating),
		"waits-for-the-volumes-of-pods-that-stay": reads(func(claim *corev1.PersistentVolumeClaim) {
			claim.Spec.VolumeName = ""
		}, terminating),
		"leaves-nodes-to-balancers": writes(func(node *corev1.Node) {
			delete(node.Labels, corev1.LabelNodeExcludeBalancers)
		}, terminating),
	}
}
