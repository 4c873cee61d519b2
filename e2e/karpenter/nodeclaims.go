package karpenter

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// ClaimNode is the name of a NodeClaim's node (status.nodeName), empty until
// the node has registered.
func ClaimNode(claim *unstructured.Unstructured) string {
	s, _ := lookup(claim, fieldNodeName).(string)
	return s
}

// ClaimProviderID is the ID of a NodeClaim's instance (status.providerID),
// empty until it is launched.
func ClaimProviderID(claim *unstructured.Unstructured) string {
	s, _ := lookup(claim, fieldProviderID).(string)
	return s
}

// ClaimRequests is spec.resources.requests[name] of a NodeClaim: what the pods
// for which it was made need, zero if absent.
func ClaimRequests(claim *unstructured.Unstructured, name corev1.ResourceName) resource.Quantity {
	list, _ := lookup(claim, fieldRequests).(map[string]any)
	return quantity(list, string(name))
}
