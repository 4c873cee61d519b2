package consolidation

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter removes a node only when its replacement is ready, not when it is merely
// requested. The savings are not worth an outage.
//
// Source: https://karpenter.sh/docs/concepts/disruption, "Control Flow": pre-spin of
// replacements.
var _ = Suite.Add(e2e.Spec{
	Name: "keeps a node until the smaller one is ready",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().OnDemand().Consolidate(fixtures.WhenEmptyOrUnderutilized)
		app, large := fixtures.Deployment(1).On(pool), fixtures.Deployment(1).On(pool).CPU("3")
		env.Create(ctx, pool, large)
		env.Await(ctx, 1, check.RunningPods(large))
		env.Create(ctx, app)
		env.Await(ctx, 1, check.RunningPods(app))

		before := env.Mark()
		env.Delete(ctx, large)
		env.Await(ctx, 1, check.RunningPods(app).On(check.ReplacedNodes(pool, before)))
		env.Await(ctx, 0, check.Nodes(pool).Old(before))

		env.Expect(env.Since(before),
			check.LeadsTo(check.AtLeast(1, check.DisruptedNodes(pool)), check.AtLeast(1, check.ReplacedNodes(pool, before))),
			check.Always(check.When(check.None(check.PodsOf(large)),
				check.When(check.AtLeast(1, check.PodsOf(app)), check.AtLeast(1, check.ReadyNodes(pool).Staying())))))
	},
})
