package drift

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// settled is how long a pool is given to do what it must not. Drift is seen
// within a second of a change, replacements are looked after every second, and
// pods that wait are batched after one.
const settled = 5 * time.Second

// drifting checks that drift happened and was acted on: a NodeClaim of the
// pool said so, and then a node of it was disrupted.
func drifting(pool *fixtures.Pool) check.Check {
	return check.LeadsTo(check.AtLeast(1, check.DriftedClaims(pool)), check.AtLeast(1, check.DisruptedNodes(pool)))
}

// undisturbed checks that the pool's nodes stay as they are.
func undisturbed(pool *fixtures.Pool) check.Check {
	return check.Always(check.None(check.DisruptedNodes(pool)))
}

// staying counts the nodes that can run pods and that nobody has begun to
// delete. One with the disrupted taint stays until its replacement is ready.
func staying(pool *fixtures.Pool) check.Count {
	return check.ReadyNodes(pool).With("and stay", func(node *unstructured.Unstructured) bool {
		return !karpenter.Deleting(node)
	})
}
