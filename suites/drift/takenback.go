package drift

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// A change that is taken back before nodes were replaced is forgotten: who
// notices a mistake in a template, and mends it while a budget holds drift back,
// keeps his nodes when the budget is lifted.
//
// Source: designs/drift.md; condition Drifted of the NodeClaim API.
var _ = Suite.Add(e2e.Spec{
	Name:  "forgets a change that is taken back in time",
	Needs: []providers.Capability{providers.NodePools},
	Run: func(ctx context.Context, env *e2e.Env) {
		team := fixtures.Key("team")
		pool := fixtures.NodePool().Budget("0", fixtures.Drifted).Label(team, "red")
		app := fixtures.Deployment(1).On(pool)
		env.Create(ctx, pool, app)
		env.Await(ctx, 1, check.RunningPods(app))

		before, old := env.Now(), env.World()
		env.Change(ctx, pool.Label(team, "blue"))
		env.Await(ctx, 1, check.DriftedClaims(pool))
		env.Change(ctx, pool.Label(team, "red"))
		env.Watch(ctx, settled)
		env.Change(ctx, pool.NoBudgets())
		env.Watch(ctx, rested)
		mended, changed := env.Since(before), env.Now()
		env.Change(ctx, pool.NewTemplate())
		env.Await(ctx, 1, check.RunningPods(app).On(check.ReplacedNodes(pool, old)))

		env.Expect(mended, undisturbed(pool),
			check.LeadsTo(check.AtLeast(1, check.DriftedClaims(pool)), check.None(check.DriftedClaims(pool))))
		env.Expect(env.Since(changed), drifting(pool))
	},
})
