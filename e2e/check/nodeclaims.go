package check

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// NodeClaims are the NodeClaims of a pool (label karpenter.sh/nodepool), of any
// pool if pool is nil. That there are none is put to the test while the pool
// exists.
func NodeClaims(pool Named) Count { return ofPool("NodeClaims", karpenter.NodeClaims, pool) }

// ClaimsWith are the NodeClaims of a pool for which match is true; words say
// which, as they read after "NodeClaims of pool x".
func ClaimsWith(pool Named, match func(*unstructured.Unstructured) bool, words string) Count {
	return NodeClaims(pool).With(words, match)
}

// DriftedClaims are the NodeClaims of a pool whose condition Drifted is True.
func DriftedClaims(pool Named) Count {
	return ClaimsWith(pool, True(karpenter.Drifted), "that have drifted")
}

// InitializedClaims are the NodeClaims of a pool whose condition Initialized is True:
// their nodes are ready for work, and count in its disruption budgets. Specs go on only
// then: what becomes of one that is deleted in the middle of its launch is another promise.
func InitializedClaims(pool Named) Count {
	return ClaimsWith(pool, True(karpenter.Initialized), "that are initialized")
}

// True says whether an object has this condition with status True: for With.
func True(condition string) func(*unstructured.Unstructured) bool {
	return func(o *unstructured.Unstructured) bool { return karpenter.IsTrue(o, condition) }
}

// Requiring says whether a NodeClaim requires a label to have one of just these
// values, in any order: for With.
func Requiring(key string, values ...string) func(*unstructured.Unstructured) bool {
	wanted := sets.New(values...)
	return func(claim *unstructured.Unstructured) bool {
		return sets.New(karpenter.ClaimRequired(claim, key)...).Equal(wanted)
	}
}

// ClaimedCapacity is what the NodeClaims of a pool add up to of one resource:
// their status.capacity, or as long as that is empty what their pods request.
// It is what a pool's spec.limits bounds (Karpenter: pkg/apis/v1/nodepool.go,
// Limits).
func ClaimedCapacity(pool Named, name corev1.ResourceName) Quantity {
	return Sum(string(name)+" of the", NodeClaims(pool), func(claim *unstructured.Unstructured) resource.Quantity {
		if c := karpenter.Capacity(claim, name); !c.IsZero() {
			return c
		}
		return karpenter.ClaimRequests(claim, name)
	})
}
