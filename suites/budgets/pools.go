package budgets

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Each NodePool has its own budgets. Disruption in one pool does not use up or raise the
// budget of another. So one team's update does not stop those of other teams.
//
// Source: designs/disruption-controls.md; spec.disruption.budgets of the NodePool API.
var _ = Suite.Add(e2e.Spec{
	Name: "of one pool don't limit another pool",
	Run: func(ctx context.Context, env *e2e.Env) {
		strict, lenient := fixtures.NodePool().Budget("1"), fixtures.NodePool().Budget("2")
		few, many := lingeringPods(strict, 2), lingeringPods(lenient, 3)
		env.Create(ctx, strict, lenient, few, many)
		env.Await(ctx, 2, check.RunningPods(few))
		env.Await(ctx, 2, check.InitializedNodeClaims(strict))
		env.Await(ctx, 3, check.RunningPods(many))
		env.Await(ctx, 3, check.InitializedNodeClaims(lenient))

		before := env.Mark()
		env.Change(ctx, strict.NewTemplate(), lenient.NewTemplate())
		env.Await(ctx, 2, outdatedNodeClaims(strict))
		env.Await(ctx, 3, outdatedNodeClaims(lenient))
		env.Await(ctx, 1, check.BudgetedNodes(strict))
		env.Observe(ctx, pressed)

		env.Expect(env.Since(before),
			check.Always(check.AtMost(1, check.BudgetedNodes(strict))), usedUp(1, strict),
			check.Always(check.AtMost(2, check.BudgetedNodes(lenient))), usedUp(2, lenient))
	},
})
