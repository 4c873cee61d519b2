// Package karpenter is Karpenter's API as data: its kinds, labels, taints and conditions, and
// accessors of unstructured objects. It links no Karpenter code, so one harness works with
// every release of the v1 API.
//
// Accessors only read an object as the API server sent it. They return the zero value for an
// absent field, because a young object lacks most of its status.
//
//	if karpenter.IsTrue(claim, karpenter.Registered) {
//		node := karpenter.NodeClaimNode(claim)
//	}
//
// The constants in fields.go are the fields that accessors read. A test compares them with the
// CRDs of several releases of Karpenter (testdata), so it finds missing fields without a
// cluster.
package karpenter

import "k8s.io/apimachinery/pkg/runtime/schema"

// Group is the API group of Karpenter's core, and the domain of its labels, annotations and
// taints (Karpenter: pkg/apis/apis.go).
const Group = "karpenter.sh"

// V1Beta1 is the version of NodePools and NodeClaims that releases before 1.1 serve beside v1.
const V1Beta1 = "v1beta1"

// The kinds that a run records. NodeOverlays and CapacityBuffers are recorded where a release
// serves them. Sources: Karpenter's CRDs (karpenter.sh/v1, v1alpha1;
// autoscaling.x-k8s.io/v1beta1) and the Kubernetes API.
var (
	NodePools            = schema.GroupVersionResource{Group: Group, Version: "v1", Resource: "nodepools"}
	NodeClaims           = schema.GroupVersionResource{Group: Group, Version: "v1", Resource: "nodeclaims"}
	Nodes                = schema.GroupVersionResource{Version: "v1", Resource: "nodes"}
	Pods                 = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	PodDisruptionBudgets = schema.GroupVersionResource{Group: "policy", Version: "v1", Resource: "poddisruptionbudgets"}
	Events               = schema.GroupVersionResource{Version: "v1", Resource: "events"}
	NodeOverlays         = schema.GroupVersionResource{Group: Group, Version: "v1alpha1", Resource: "nodeoverlays"}
	CapacityBuffers      = schema.GroupVersionResource{
		Group: "autoscaling.x-k8s.io", Version: "v1beta1",
		Resource: "capacitybuffers",
	}
	Deployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
)

// RecordedAs returns the resource under which a run records one: Karpenter's are recorded in v1 alone.
func RecordedAs(resource schema.GroupVersionResource) schema.GroupVersionResource {
	if resource.Group == Group && resource.Version == V1Beta1 {
		resource.Version = NodePools.Version
	}
	return resource
}
