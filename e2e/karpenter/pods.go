package karpenter

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// PodNode is the name of the node that a pod is bound to (spec.nodeName),
// empty if it isn't.
func PodNode(pod *unstructured.Unstructured) string {
	return text(child(pod.Object, "spec"), "nodeName")
}

// PodPhase is status.phase, such as Pending or Running.
func PodPhase(pod *unstructured.Unstructured) corev1.PodPhase {
	return corev1.PodPhase(text(child(pod.Object, "status"), "phase"))
}

// PodReady says whether the pod's condition Ready is True (Kubernetes: core/v1
// PodReady).
func PodReady(pod *unstructured.Unstructured) bool {
	return IsTrue(pod, Ready)
}

// BelongsTo says whether a pod is the named workload's: it has that name
// itself, or its owner has (StatefulSet, Job, DaemonSet, ReplicaSet), or its
// owner is a ReplicaSet of the Deployment with that name. A Deployment's
// ReplicaSets are called name-hash, and the hash is their pods' label
// pod-template-hash (Kubernetes: pkg/controller/deployment/sync.go).
func BelongsTo(pod *unstructured.Unstructured, workload string) bool {
	if pod.GetName() == workload {
		return true
	}
	hash := Label(pod, "pod-template-hash")
	owners, _ := child(pod.Object, "metadata")["ownerReferences"].([]any)
	for _, o := range owners {
		owner, _ := o.(map[string]any)
		name := text(owner, "name")
		if name == workload || hash != "" && name == workload+"-"+hash {
			return true
		}
	}
	return false
}

// Containers are the states of a pod's containers, init containers first, as
// its node reported them (core/v1 PodStatus); what can't be read is left out.
func Containers(pod *unstructured.Unstructured) []corev1.ContainerStatus {
	var all []corev1.ContainerStatus
	for _, path := range []string{"status.initContainerStatuses", "status.containerStatuses"} {
		for m := range mappings(pod, path) {
			var c corev1.ContainerStatus
			if runtime.DefaultUnstructuredConverter.FromUnstructured(m, &c) == nil {
				all = append(all, c)
			}
		}
	}
	return all
}
