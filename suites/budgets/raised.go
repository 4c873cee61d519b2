package budgets

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A budget that is raised while nodes are being disrupted counts at once: who finds an
// update too slow need not wait until it is over. What the old budget allowed is under way
// meanwhile, and still counts.
//
// Source: designs/disruption-controls.md; spec.disruption.budgets[].nodes.
var _ = Suite.Add(e2e.Spec{
	Name: "can be raised while nodes are being disrupted",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().Budget("1")
		app := lingering(pool, 3)
		env.Launch(ctx, 3, pool, app)

		before := env.Mark()
		env.Change(ctx, pool.NewTemplate())
		env.Await(ctx, 3, outdated(pool))
		env.Await(ctx, 1, disrupting(pool))
		env.Observe(ctx, pressed)
		env.Expect(env.Since(before), check.Always(check.AtMost(1, disrupting(pool))), usedUp(1, pool))

		raised := env.Mark()
		env.Change(ctx, pool.NoBudgets().Budget("2"))
		env.Await(ctx, 2, disrupting(pool))
		env.Observe(ctx, karpenter.ConsolidationDecided)
		env.Expect(env.Since(raised), check.Always(check.AtMost(2, disrupting(pool))))
	},
})
