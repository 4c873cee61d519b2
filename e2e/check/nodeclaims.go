package check

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// NodeClaims returns the NodeClaims of a pool (label karpenter.sh/nodepool); of any pool, if
// pool is nil. "There are none" is exercised while the pool exists.
func NodeClaims(pool Named) Count { return ofPool("NodeClaims", karpenter.NodeClaims, pool) }

// DriftedNodeClaims returns the NodeClaims of a pool whose condition Drifted is True.
func DriftedNodeClaims(pool Named) Count {
	return NodeClaims(pool).With("that have drifted", True(karpenter.Drifted))
}

// InitializedNodeClaims returns the NodeClaims of a pool whose condition Initialized is True.
// Their nodes are ready for work and count in its disruption budgets. Specs wait for this,
// because a deletion in the middle of a launch is another promise.
func InitializedNodeClaims(pool Named) Count {
	return NodeClaims(pool).With("that are initialized", True(karpenter.Initialized))
}

// NodeClaimCapacity returns the sum of one resource over the NodeClaims of a pool: of
// status.capacity, or of the requests of their pods while that is empty. A pool's spec.limits
// bounds it (Karpenter: pkg/apis/v1/nodepool.go, Limits).
func NodeClaimCapacity(pool Named, name corev1.ResourceName) Quantity {
	return Sum(string(name)+" of the", NodeClaims(pool), func(o *unstructured.Unstructured) resource.Quantity {
		if c := karpenter.Capacity(o, name); !c.IsZero() {
			return c
		}
		return karpenter.NodeClaimRequests(o, name)
	})
}
