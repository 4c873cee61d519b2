package check

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/history"
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

func inPhase(phase corev1.PodPhase) func(*unstructured.Unstructured) bool {
	return func(pod *unstructured.Unstructured) bool {
		return karpenter.PodPhase(pod) == phase && !karpenter.Deleting(pod)
	}
}

// On is those of the counted pods that are bound to one of the given nodes.
func (c Count) On(nodes Count) Count {
	on := Count{Name: fmt.Sprintf("%s on %s", c.Name, nodes.Name), Among: c.Of, Reads: readsBoth(c.Reads, nodes.Reads)}
	on.Of = func(w *history.World) []*history.Object {
		names := map[string]bool{}
		for _, node := range nodes.Of(w) {
			names[node.Name] = true
		}
		var there []*history.Object
		for _, pod := range c.Of(w) {
			if names[karpenter.PodNode(pod.Unstructured())] {
				there = append(there, pod)
			}
		}
		return there
	}
	return on
}
