package check

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// While checks a claim while any object is counted. It is vacuous unless there was one.
func While(objects Count, claim Claim) Check { return Always(When(AtLeast(1, objects), claim)) }

// EndsWith checks a claim at the end, if a workload has pods then. It is vacuous without any.
func EndsWith(workload Named, claim Claim) Check {
	return Finally(When(AtLeast(1, PodsOf(workload)), claim))
}

// GoesFor checks that NodeClaims of a pool are disrupted for this reason only.
func GoesFor(reason string, pool Named) Check {
	chosen := NodeClaims(pool).In(karpenter.DisruptionReason)
	return Always(Each(chosen, "are "+reason, Because(karpenter.DisruptionReason, reason)))
}

// ActsOnDrift checks that a NodeClaim of the pool drifted, and then a node of it was
// disrupted.
func ActsOnDrift(pool Named) Check {
	return LeadsTo(AtLeast(1, DriftedNodeClaims(pool)), AtLeast(1, DisruptedNodes(pool)))
}

// HoldsDriftBack checks that no node of a pool was disrupted while NodeClaims had drifted.
func HoldsDriftBack(pool Named) Check {
	return While(DriftedNodeClaims(pool), None(DisruptedNodes(pool)))
}

// ComesWith checks that a condition of a single object comes with an earlier one, or after it.
func ComesWith(object Count, later, earlier string) Check {
	return While(object.In(later), Exactly(1, object.In(earlier)))
}

// ForAny returns the same claim for every object, for Whenever and After.
func ForAny(c Claim) func(*unstructured.Unstructured) Claim {
	return func(*unstructured.Unstructured) Claim { return c }
}
