package consolidation

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// Karpenter replaces a spot node by an on-demand node that costs less, if its pool allows no spot any
// more. Spot nodes are spared other spot nodes, lest they walk down to the cheapest type. No such
// thing happens here: a node that is far too large would be paid until somebody deletes it. A budget
// keeps drift from replacing it.
//
// Source: https://karpenter.sh/docs/concepts/disruption, "Consolidation": a node is replaced by a
// cheaper one; designs/spot-consolidation.md, which is about spot to spot.
var _ = Suite.Add(e2e.Spec{
	Name:  "replaces a spot node by an on-demand node if its pool allows no spot any more",
	Needs: []providers.Capability{providers.NodePools, providers.Spot},
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().CapacityType(karpenter.Spot).Budget("0", fixtures.Drifted).
			Consolidate(fixtures.WhenEmptyOrUnderutilized)
		app, large := fixtures.Deployment(1).On(pool), fixtures.Pod().On(pool).CPU("20")
		env.Create(ctx, pool, large)
		env.Await(ctx, 1, check.RunningPods(large))
		env.Create(ctx, app)
		env.Await(ctx, 1, check.RunningPods(app))
		env.Change(ctx, pool.OnDemand())
		env.Observe(ctx, karpenter.NominationOver)

		before := env.Mark()
		env.Delete(ctx, large)
		env.Await(ctx, 1, check.RunningPods(app).On(check.ReplacedNodes(pool, before)))
		env.Await(ctx, 0, check.Nodes(pool).Old(before))

		env.Expect(env.Since(before),
			check.LeadsTo(check.AtLeast(1, check.DisruptedNodes(pool)), check.None(check.Nodes(pool).Old(before))),
			check.Always(check.Each(check.ReplacedNodes(pool, before), "are on-demand nodes",
				check.Labeled(karpenter.CapacityTypeLabel, karpenter.OnDemand))))
	},
})
