package budgets

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A pool that says nothing of budgets has one all the same: a tenth of its nodes, rounded
// up. So a first change of a large pool doesn't take it down at once, before anybody has
// heard of budgets. Of eleven nodes here two may go.
//
// Source: spec.disruption.budgets of the NodePool API: "If left undefined, this will
// default to one budget with a value to 10%."
var _ = Suite.Add(e2e.Spec{
	Name: "allow a tenth of the nodes if a pool has none",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().DefaultBudgets()
		app := lingering(pool, 11)
		env.Launch(ctx, 11, pool, app)

		before := env.Mark()
		env.Change(ctx, pool.NewTemplate())
		env.Await(ctx, 11, outdated(pool))
		env.Await(ctx, 2, disrupting(pool))
		env.Observe(ctx, pressed)

		env.Expect(env.Since(before), check.Always(check.AtMost(2, disrupting(pool))), usedUp(2, pool))
	},
})
