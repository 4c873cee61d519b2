package budgets

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter rounds a budget in percent up. A quarter of three nodes is one node, not two
// and not zero. Zero would stop every update of a small pool. With four nodes, during a
// replacement, it is still one.
//
// Source: designs/disruption-controls.md; spec.disruption.budgets[].nodes.
var _ = Suite.Add(e2e.Spec{
	Name: "in percent are rounded up, and never exceeded",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().Budget("25%")
		app := lingeringPods(pool, 3)
		env.Launch(ctx, 3, pool, app)

		before := env.Mark()
		env.Change(ctx, pool.NewTemplate())
		env.Await(ctx, 3, outdatedNodeClaims(pool))
		env.Await(ctx, 1, check.BudgetedNodes(pool))
		env.Observe(ctx, pressed)

		env.Expect(env.Since(before), check.Always(check.AtMost(1, check.BudgetedNodes(pool))), usedUp(1, pool))
	},
})
