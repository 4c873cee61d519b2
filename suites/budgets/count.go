package budgets

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Drift never disrupts more nodes of a pool at once than the budget allows. It uses the
// whole budget, and may replace every node. A sampled check would miss a breach between
// two samples.
//
// Source: designs/disruption-controls.md; spec.disruption.budgets[].nodes.
var _ = Suite.Add(e2e.Spec{
	Name: "are never exceeded during drift",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().Budget("2")
		app := lingeringPods(pool, 4)
		env.Launch(ctx, 4, pool, app)

		before := env.Mark()
		env.Change(ctx, pool.NewTemplate())
		env.Await(ctx, 4, outdatedNodeClaims(pool))
		env.Await(ctx, 2, check.BudgetedNodes(pool))
		env.Observe(ctx, pressed)

		env.Expect(env.Since(before), check.Always(check.AtMost(2, check.BudgetedNodes(pool))), usedUp(2, pool))
	},
})
