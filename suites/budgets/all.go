package budgets

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Under a budget of 100 percent, Karpenter disrupts all drifted nodes at once. Users that
// can spare a pool do not want to wait for one node after another.
//
// Source: designs/disruption-controls.md; spec.disruption.budgets[].nodes.
var _ = Suite.Add(e2e.Spec{
	Name: "of 100 percent let all nodes drift at once",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().Budget("100%")
		app := lingeringPods(pool, 3)
		env.Launch(ctx, 3, pool, app)

		before := env.Mark()
		env.Change(ctx, pool.NewTemplate())
		env.Await(ctx, 3, outdatedNodeClaims(pool))
		env.Await(ctx, 1, check.BudgetedNodes(pool))
		env.Observe(ctx, pressed)

		env.Expect(env.Since(before), usedUp(3, pool))
	},
})
