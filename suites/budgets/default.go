package budgets

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A NodePool without budgets allows the disruption of a tenth of its nodes, rounded up.
// So a first change does not disrupt all of a large pool at once, before anybody has
// heard of budgets. Here two of eleven nodes may go.
//
// Source: spec.disruption.budgets of the NodePool API: "If left undefined, this will
// default to one budget with a value to 10%."
var _ = Suite.Add(e2e.Spec{
	Name: "allow a tenth of the nodes if a pool has none",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().DefaultBudgets()
		app := lingeringPods(pool, 11)
		env.Launch(ctx, 11, pool, app)

		before := env.Mark()
		env.Change(ctx, pool.NewTemplate())
		env.Await(ctx, 11, outdatedNodeClaims(pool))
		env.Await(ctx, 2, check.BudgetedNodes(pool))
		env.Observe(ctx, pressed)

		env.Expect(env.Since(before), check.Always(check.AtMost(2, check.BudgetedNodes(pool))), usedUp(2, pool))
	},
})
