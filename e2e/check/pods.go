package check

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// PodsOf are the pods of a workload (see karpenter.BelongsTo), and the pod of
// that name itself. All pods if workload is nil.
func PodsOf(workload Named) Count {
	if workload == nil {
		return Where("pods", karpenter.Pods, func(*unstructured.Unstructured) bool { return true })
	}
	name := workload.GetName()
	return Where("pods of "+name, karpenter.Pods, func(pod *unstructured.Unstructured) bool {
		return karpenter.BelongsTo(pod, name)
	})
}

// RunningPods are the pods of a workload in phase Running that are not being
// deleted.
func RunningPods(workload Named) Count {
	return PodsOf(workload).With("that are running", inPhase(corev1.PodRunning))
}

// PendingPods are the pods of a workload in phase Pending that are not being
// deleted, bound to a node or not.
func PendingPods(workload Named) Count {
	return PodsOf(workload).With("that are pending", inPhase(corev1.PodPending))
}

// BoundPods are the pods of a workload that are bound to a node, whatever has
// become of them there.
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
