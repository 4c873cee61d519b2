package budgets

import (
	"time"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// settled is how long a pool is given to do what it must not: longer than the
// ten seconds between two rounds of disruption.
const settled = 12 * time.Second

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
