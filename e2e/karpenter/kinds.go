// Package karpenter is Karpenter's API as data: its kinds, labels, taints and
// conditions, and accessors over unstructured objects. It links no Karpenter
// code, so that one harness can speak to every release of the v1 API.
package karpenter

import "k8s.io/apimachinery/pkg/runtime/schema"

// The kinds that a run records. Sources: Karpenter's CRDs
// (karpenter.sh/v1) and the Kubernetes API.
var (
	NodePools   = schema.GroupVersionResource{Group: "karpenter.sh", Version: "v1", Resource: "nodepools"}
	NodeClaims  = schema.GroupVersionResource{Group: "karpenter.sh", Version: "v1", Resource: "nodeclaims"}
	Nodes       = schema.GroupVersionResource{Version: "v1", Resource: "nodes"}
	Pods        = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	Events      = schema.GroupVersionResource{Version: "v1", Resource: "events"}
	Deployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
)
