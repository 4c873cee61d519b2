package budgets

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter applies the strictest of several budgets, at any place in the list. A general
// budget does not undo a stricter one.
//
// Source: spec.disruption.budgets of the NodePool API: "If there are multiple
// active budgets, Karpenter uses the most restrictive value."
var _ = Suite.Add(e2e.Spec{
	Name: "are as strict as the strictest of them",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().Budget("2").Budget("1").Budget("100%")
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
