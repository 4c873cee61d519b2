package karpenter

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Taints returns the taints of a node or NodeClaim (spec.taints), without their times.
func Taints(o *unstructured.Unstructured) []corev1.Taint {
	var taints []corev1.Taint
	for t := range mappings(o, fieldTaints) {
		taints = append(taints, corev1.Taint{
			Key:    text(t, "key"),
			Value:  text(t, "value"),
			Effect: corev1.TaintEffect(text(t, "effect")),
		})
	}
	return taints
}

// HasTaint reports whether a node has a taint with this key, with any value and effect.
func HasTaint(o *unstructured.Unstructured, key string) bool {
	for t := range mappings(o, fieldTaints) {
		if text(t, "key") == key {
			return true
		}
	}
	return false
}

// NodeReady reports whether the node's condition Ready is True (core/v1 NodeReady).
func NodeReady(node *unstructured.Unstructured) bool {
	return IsTrue(node, Ready)
}

// NodeProviderID returns spec.providerID. A provider sets it, and Karpenter matches nodes to
// NodeClaims by it.
func NodeProviderID(node *unstructured.Unstructured) string {
	return text(child(node.Object, "spec"), "providerID")
}

// BootID returns status.nodeInfo.bootID of a node. Each start of its machine has another one.
func BootID(node *unstructured.Unstructured) string {
	return text(child(child(node.Object, "status"), "nodeInfo"), "bootID")
}

// InstanceType returns the instance type of a node or NodeClaim: its label
// node.kubernetes.io/instance-type.
func InstanceType(o *unstructured.Unstructured) string {
	return Label(o, corev1.LabelInstanceTypeStable)
}

// Capacity returns status.capacity[name] of a node or NodeClaim, zero if absent.
func Capacity(o *unstructured.Unstructured, name corev1.ResourceName) resource.Quantity {
	list, _ := lookup(o, fieldCapacity).(map[string]any)
	return quantity(list, string(name))
}

// Allocatable returns status.allocatable[name] of a node or NodeClaim, zero if absent.
func Allocatable(o *unstructured.Unstructured, name corev1.ResourceName) resource.Quantity {
	list, _ := lookup(o, fieldAllocatable).(map[string]any)
	return quantity(list, string(name))
}
