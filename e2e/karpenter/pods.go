package karpenter

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// PodNode returns the node that a pod is bound to (spec.nodeName), empty if none.
func PodNode(pod *unstructured.Unstructured) string {
	return text(child(pod.Object, "spec"), "nodeName")
}

// PodPhase returns status.phase, such as Pending or Running.
func PodPhase(pod *unstructured.Unstructured) corev1.PodPhase {
	return corev1.PodPhase(text(child(pod.Object, "status"), "phase"))
}

// PodReady reports whether the pod's condition Ready is True (core/v1 PodReady).
func PodReady(pod *unstructured.Unstructured) bool {
	return IsTrue(pod, Ready)
}

// BelongsTo reports whether a pod is the named workload's. The pod itself has that name, or
// its owner has (StatefulSet, Job, DaemonSet, ReplicaSet), or its owner is a ReplicaSet of the
// Deployment with that name. A Deployment's ReplicaSets are called name-hash, and their pods
// have the hash in the label pod-template-hash (Kubernetes:
// pkg/controller/deployment/sync.go).
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

// Containers returns the statuses of a pod's containers, init containers first (core/v1
// PodStatus). It skips unreadable ones.
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

// ToleratesDisruption reports whether a pod tolerates DisruptedTaint: a drain leaves it where it is (Karpenter:
// pkg/utils/pod/scheduling.go).
func ToleratesDisruption(pod *unstructured.Unstructured) bool {
	for t := range mappings(pod, "spec.tolerations") {
		if effect := text(t, "effect"); effect != "" && effect != string(corev1.TaintEffectNoSchedule) {
			continue
		}
		key, exists := text(t, "key"), text(t, "operator") == string(corev1.TolerationOpExists)
		if exists && key == "" || key == DisruptedTaint && (exists || text(t, "value") == "") {
			return true
		}
	}
	return false
}
