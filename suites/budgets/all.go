package budgets

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A budget of all nodes lets all of them go at once: whoever rolls a pool that can be
// spared wants to be done with it, and not to wait for one node after the other.
//
// Source: designs/disruption-controls.md; spec.disruption.budgets[].nodes.
var _ = Suite.Add(e2e.Spec{
	Name: "of 100 percent let all nodes drift at once",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().Budget("100%")
		app := lingering(pool, 3)
		env.Launch(ctx, 3, pool, app)

		before := env.Mark()
		env.Change(ctx, pool.NewTemplate())
		env.Await(ctx, 3, outdated(pool))
		env.Await(ctx, 1, disrupting(pool))
		env.Observe(ctx, pressed)

		env.Expect(env.Since(before), usedUp(3, pool))
	},
})
