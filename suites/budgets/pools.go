package budgets

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Each pool has budgets of its own: what is under way in one neither uses up nor widens
// what another may do. A team that rolls its nodes doesn't stop those of the others.
//
// Source: designs/disruption-controls.md; spec.disruption.budgets of the NodePool API.
var _ = Suite.Add(e2e.Spec{
	Name: "of one pool don't limit another pool",
	Run: func(ctx context.Context, env *e2e.Env) {
		strict, lenient := fixtures.NodePool().Budget("1"), fixtures.NodePool().Budget("2")
		few, many := lingering(strict, 2), lingering(lenient, 3)
		env.Create(ctx, strict, lenient, few, many)
		env.Await(ctx, 2, check.RunningPods(few))
		env.Await(ctx, 2, check.InitializedNodeClaims(strict))
		env.Await(ctx, 3, check.RunningPods(many))
		env.Await(ctx, 3, check.InitializedNodeClaims(lenient))

		before := env.Mark()
		env.Change(ctx, strict.NewTemplate(), lenient.NewTemplate())
		env.Await(ctx, 2, outdated(strict))
		env.Await(ctx, 3, outdated(lenient))
		env.Await(ctx, 1, disrupting(strict))
		env.Observe(ctx, pressed)

		env.Expect(env.Since(before),
			check.Always(check.AtMost(1, disrupting(strict))), usedUp(1, strict),
			check.Always(check.AtMost(2, disrupting(lenient))), usedUp(2, lenient))
	},
})
