package drift

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// A change of what isn't in the template leaves the nodes alone: whoever tunes
// a weight, a limit or a budget of a pool in use doesn't mean to replace its
// nodes. The template is changed in the end, so that the silence before means
// something.
//
// Source: https://karpenter.sh/docs/concepts/disruption/#drift, "Behavioral Fields".
var (
	_ = Suite.Add(leavesAlone("weight changes", func(p *fixtures.Pool) { p.Weight(50) }))
	_ = Suite.Add(leavesAlone("limits change", func(p *fixtures.Pool) { p.Limit("cpu", "1000") }))
	_ = Suite.Add(leavesAlone("disruption block changes", func(p *fixtures.Pool) {
		p.Budget("50%").ConsolidateAfter("10m").ConsolidationPolicy(fixtures.WhenEmpty)
	}))
)

func leavesAlone(what string, change func(*fixtures.Pool)) e2e.Spec {
	return e2e.Spec{
		Name:  "leaves nodes alone when their pool's " + what,
		Needs: []providers.Capability{providers.NodePools},
		Run: func(ctx context.Context, env *e2e.Env) {
			pool := fixtures.NodePool()
			app := fixtures.Deployment(1).On(pool)
			env.Create(ctx, pool, app)
			env.Await(ctx, 1, check.RunningPods(app))

			old := env.World()
			change(pool)
			env.Change(ctx, pool)
			quiet := env.Watch(ctx, settled)
			changed := env.Now()
			env.Change(ctx, pool.NewTemplate())
			env.Await(ctx, 1, check.RunningPods(app).On(check.ReplacedNodes(pool, old)))

			env.Expect(quiet, check.Always(check.None(check.DriftedClaims(pool))), undisturbed(pool))
			env.Expect(env.Since(changed), drifting(pool))
		},
	}
}
