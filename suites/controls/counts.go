package controls

import (
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// kept checks that nodes of a pool ran nothing that would be missed, could have
// been consolidated, and were left alone.
func kept(pool *fixtures.Pool, app *fixtures.Workload) check.Check {
	return check.Always(check.When(
		check.AllOf(check.None(check.PodsOf(app)), check.AtLeast(1, check.NodeClaims(pool).In(karpenter.Consolidatable))),
		check.None(check.DisruptedNodes(pool))))
}
