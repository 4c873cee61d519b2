package check

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// PodsOf returns the pods of a workload (see karpenter.BelongsTo), and the pod of that name.
// It returns all pods if workload is nil.
func PodsOf(workload Named) Count {
	if workload == nil {
		return Where("pods", karpenter.Pods, func(*unstructured.Unstructured) bool { return true })
	}
	name := workload.GetName()
	return Where("pods of "+name, karpenter.Pods, func(pod *unstructured.Unstructured) bool {
		return karpenter.BelongsTo(pod, name)
	})
}

// UnschedulablePods returns the pods of a workload for which the scheduler has found no node.
// Karpenter looks only at these. A busy scheduler may be slower than a batch stays open. So in
// specs about one batch, all pods wait before the pool is created.
func UnschedulablePods(workload Named) Count {
	return PodsOf(workload).With("that no node fits", func(pod *unstructured.Unstructured) bool {
		scheduled, _ := karpenter.Condition(pod, string(corev1.PodScheduled))
		return scheduled.Reason == corev1.PodReasonUnschedulable
	})
}

// RunningPods returns the pods of a workload in phase Running that are not being deleted.
func RunningPods(workload Named) Count {
	return PodsOf(workload).With("that are running", inPhase(corev1.PodRunning))
}

// PendingPods returns the pods of a workload in phase Pending, bound or not, that are not
// being deleted.
func PendingPods(workload Named) Count {
	return PodsOf(workload).With("that are pending", inPhase(corev1.PodPending))
}

// SucceededPods returns the pods of a workload that have finished, and are still there.
func SucceededPods(workload Named) Count {
	return PodsOf(workload).With("that have succeeded", inPhase(corev1.PodSucceeded))
}

// BoundPods returns the pods of a workload that are bound to a node, in any phase.
func BoundPods(workload Named) Count {
	return PodsOf(workload).With("that are bound", func(pod *unstructured.Unstructured) bool {
		return karpenter.PodNode(pod) != ""
	})
}

func inPhase(phase corev1.PodPhase) Predicate {
	return func(pod *unstructured.Unstructured) bool {
		return karpenter.PodPhase(pod) == phase && !karpenter.Deleting(pod)
	}
}
