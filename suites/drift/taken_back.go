package drift

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// If a change is reverted before Karpenter replaces nodes, it replaces none. A user can
// correct a mistake in a template while a budget holds drift back. The nodes stay when
// the budget is removed.
//
// Source: designs/drift.md; condition Drifted of the NodeClaim API.
var _ = Suite.Add(e2e.Spec{
	Name: "replaces nothing if a change is reverted in time",
	Run: func(ctx context.Context, env *e2e.Env) {
		team := fixtures.Key("team")
		pool := fixtures.NodePool().Budget("0", fixtures.Drifted).Label(team, "red")
		app := fixtures.Deployment(1).On(pool)
		env.Create(ctx, pool, app)
		env.Await(ctx, 1, check.RunningPods(app))

		before := env.Mark()
		env.Change(ctx, pool.Label(team, "blue"))
		env.Await(ctx, 1, check.DriftedNodeClaims(pool))
		env.Change(ctx, pool.Label(team, "red"))
		env.Observe(ctx, karpenter.Settled)
		env.Change(ctx, pool.NoBudgets())
		env.Observe(ctx, karpenter.NominationOver)
		mended, changed := env.Since(before), env.Mark()
		env.Change(ctx, pool.NewTemplate())
		env.Await(ctx, 1, check.RunningPods(app).On(check.ReplacedNodes(pool, before)))

		env.Expect(mended, check.Always(check.None(check.DisruptedNodes(pool))),
			check.LeadsTo(check.AtLeast(1, check.DriftedNodeClaims(pool)), check.None(check.DriftedNodeClaims(pool))))
		env.Expect(env.Since(changed), check.ActsOnDrift(pool))
	},
})
