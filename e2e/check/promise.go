package check

import "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

// While checks a claim at each moment at which there is one of the objects at least. It is
// vacuous unless there ever was one.
func While(objects Count, claim Claim) Check { return Always(When(AtLeast(1, objects), claim)) }

// ActsOnDrift checks that drift happened and was acted on: a NodeClaim of the pool said
// so, and then a node of it was disrupted.
func ActsOnDrift(pool Named) Check {
	return LeadsTo(AtLeast(1, DriftedNodeClaims(pool)), AtLeast(1, DisruptedNodes(pool)))
}

// HoldsDriftBack checks that nodes of a pool had drifted and were left alone.
func HoldsDriftBack(pool Named) Check {
	return While(DriftedNodeClaims(pool), None(DisruptedNodes(pool)))
}

// ComesWith checks of a single object that one of its conditions comes only together with
// an earlier one, or after it.
func ComesWith(object Count, later, earlier string) Check {
	return While(object.In(later), Exactly(1, object.In(earlier)))
}

// ForAny is the same claim whichever object took a step: for Whenever and After.
func ForAny(c Claim) func(*unstructured.Unstructured) Claim {
	return func(*unstructured.Unstructured) Claim { return c }
}
