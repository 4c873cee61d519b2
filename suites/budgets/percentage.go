package budgets

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A share of a pool's nodes is rounded up: a quarter of three nodes is one of
// them, neither none, which would stop every update of a small pool, nor two.
// With four nodes, while a replacement is there, it is still one.
//
// Source: designs/disruption-controls.md; spec.disruption.budgets[].nodes.
var _ = Suite.Add(e2e.Spec{
	Name: "in percent are rounded up, and never exceeded",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().Budget("25%")
		app := lingering(pool, 3)
		env.Launch(ctx, 3, pool, app)

		before := env.Mark()
		env.Change(ctx, pool.NewTemplate())
		env.Await(ctx, 3, outdated(pool))
		env.Await(ctx, 1, disrupting(pool))
		env.Observe(ctx, pressed)

		env.Expect(env.Since(before), check.Always(check.AtMost(1, disrupting(pool))), usedUp(1, pool))
	},
})
