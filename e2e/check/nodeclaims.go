package check

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// NodeClaims are the NodeClaims of a pool (label karpenter.sh/nodepool), of any
// pool if pool is nil. That there are none is put to the test while the pool
// exists.
func NodeClaims(pool Named) Count { return ofPool("NodeClaims", karpenter.NodeClaims, pool) }

// DriftedNodeClaims are the NodeClaims of a pool whose condition Drifted is True.
func DriftedNodeClaims(pool Named) Count {
	return NodeClaims(pool).With("that have drifted", True(karpenter.Drifted))
}

// InitializedNodeClaims are the NodeClaims of a pool whose condition Initialized is True:
// their nodes are ready for work, and count in its disruption budgets. Specs go on only
// then: what becomes of one that is deleted in the middle of its launch is another promise.
func InitializedNodeClaims(pool Named) Count {
	return NodeClaims(pool).With("that are initialized", True(karpenter.Initialized))
}

// NodeClaimCapacity is what the NodeClaims of a pool add up to of one resource:
// their status.capacity, or as long as that is empty what their pods request.
// It is what a pool's spec.limits bounds (Karpenter: pkg/apis/v1/nodepool.go,
// Limits).
func NodeClaimCapacity(pool Named, name corev1.ResourceName) Quantity {
	return Sum(string(name)+" of the", NodeClaims(pool), func(o *unstructured.Unstructured) resource.Quantity {
		if c := karpenter.Capacity(o, name); !c.IsZero() {
			return c
		}
		return karpenter.NodeClaimRequests(o, name)
	})
}
