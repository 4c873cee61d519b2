package karpenter

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// NodeClaimNode is the name of a NodeClaim's node (status.nodeName), empty until
// the node has registered.
func NodeClaimNode(claim *unstructured.Unstructured) string {
	s, _ := lookup(claim, fieldNodeName).(string)
	return s
}

// NodeClaimProviderID is the ID of a NodeClaim's instance (status.providerID),
// empty until it is launched.
func NodeClaimProviderID(claim *unstructured.Unstructured) string {
	s, _ := lookup(claim, fieldProviderID).(string)
	return s
}

// NodeClaimRequests is spec.resources.requests[name] of a NodeClaim: what the pods
// for which it was made need, zero if absent.
func NodeClaimRequests(claim *unstructured.Unstructured, name corev1.ResourceName) resource.Quantity {
	list, _ := lookup(claim, fieldRequests).(map[string]any)
	return quantity(list, string(name))
}

// NodeClaimRequired are the values of a label among which a NodeClaim's instance must
// have one, by a requirement In (spec.requirements); none if there is no such one.
func NodeClaimRequired(claim *unstructured.Unstructured, key string) []string {
	for r := range mappings(claim, fieldRequired) {
		if text(r, "key") != key || text(r, "operator") != string(corev1.NodeSelectorOpIn) {
			continue
		}
		list, _ := r["values"].([]any)
		values := make([]string, 0, len(list))
		for _, v := range list {
			if s, ok := v.(string); ok {
				values = append(values, s)
			}
		}
		return values
	}
	return nil
}
