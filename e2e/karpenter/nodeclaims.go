package karpenter

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// NodeClaimNode returns a NodeClaim's status.nodeName, empty until the node has registered.
func NodeClaimNode(claim *unstructured.Unstructured) string {
	s, _ := lookup(claim, fieldNodeName).(string)
	return s
}

// NodeClaimProviderID returns a NodeClaim's status.providerID, empty until it is launched.
func NodeClaimProviderID(claim *unstructured.Unstructured) string {
	s, _ := lookup(claim, fieldProviderID).(string)
	return s
}

// NodeClaimImage returns a NodeClaim's status.imageID: the image that its machine was started from.
func NodeClaimImage(claim *unstructured.Unstructured) string {
	s, _ := lookup(claim, fieldImageID).(string)
	return s
}

// NodeClaimRequests returns a NodeClaim's spec.resources.requests[name], zero if absent: what
// the pods need that Karpenter made it for.
func NodeClaimRequests(claim *unstructured.Unstructured, name corev1.ResourceName) resource.Quantity {
	list, _ := lookup(claim, fieldRequests).(map[string]any)
	return quantity(list, string(name))
}

// NodeClaimRequired returns the values that a requirement In (spec.requirements) allows for a
// label of the NodeClaim's instance, nil without such a requirement.
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

// Expires returns when a NodeClaim expires, by its spec.expireAfter; false if never.
func Expires(nodeClaim *unstructured.Unstructured) (time.Time, bool) {
	expireAfter, _ := lookup(nodeClaim, fieldExpireAfter).(string)
	after, err := time.ParseDuration(expireAfter)
	if err != nil { // Never, or nothing
		return time.Time{}, false
	}
	return nodeClaim.GetCreationTimestamp().Add(after), true
}
