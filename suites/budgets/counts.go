package budgets

import (
	"slices"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// rested is how long a node is left alone after it was launched, whatever
// budgets say: Karpenter disrupts no node that it has just meant a pod for, for
// twice the longest batch (20 s by default). A budget that holds a node back
// is put to the test only after that.
const rested = 21 * time.Second

// disrupting counts the nodes of a pool that a budget counts: tainted as
// disrupted or being deleted, but not those whose instance is being terminated
// after they have been drained. Their Node object may stand for a while yet.
//
// Source: designs/disruption-controls.md; condition InstanceTerminating of the
// NodeClaim API, since v1.0.
func disrupting(pool *fixtures.Pool) check.Count {
	disrupted, terminating := check.DisruptedNodes(pool), check.ClaimsWith(pool, check.True(karpenter.InstanceTerminating), "")
	return check.Count{
		Name:  disrupted.Name,
		Among: disrupted.Among,
		Reads: append(slices.Clone(disrupted.Reads), terminating.Reads...),
		Of: func(w *history.World) []*history.Object {
			claims := terminating.Of(w)
			return slices.DeleteFunc(disrupted.Of(w), func(node *history.Object) bool {
				return slices.ContainsFunc(claims, func(claim *history.Object) bool {
					return karpenter.ClaimNode(claim.Unstructured()) == node.Name
				})
			})
		},
	}
}

// holds checks that a pool's nodes had drifted and were left alone.
func holds(pool *fixtures.Pool) check.Check {
	return check.Always(check.When(
		check.AtLeast(1, check.DriftedClaims(pool)),
		check.None(check.DisruptedNodes(pool))))
}

// removesEmpty lets Karpenter remove a pool's empty nodes at once.
func removesEmpty(pool *fixtures.Pool) *fixtures.Pool {
	return pool.ConsolidationPolicy(fixtures.WhenEmpty).ConsolidateAfter("0s")
}
