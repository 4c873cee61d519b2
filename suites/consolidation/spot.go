package consolidation

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// Karpenter replaces an on-demand node with a spot node as soon as the pool allows spot.
// Users allow it to save money. If the replacement could be on-demand again, a shortage
// of spot would lead to a more expensive node.
//
// Source: designs/spot-consolidation.md; https://karpenter.sh/docs/concepts/disruption,
// "Consolidation".
var _ = Suite.Add(e2e.Spec{
	Name:  "replaces an on-demand node by a spot node",
	Needs: []providers.Capability{providers.NodePools, providers.Spot},
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().OnDemand()
		app, large := fixtures.Deployment(1).On(pool), fixtures.Deployment(1).On(pool).CPU("3")
		env.Create(ctx, pool, large)
		env.Await(ctx, 1, check.RunningPods(large))
		env.Create(ctx, app)
		env.Await(ctx, 1, check.RunningPods(app))

		before := env.Mark()
		pool.CapacityType(karpenter.OnDemand, karpenter.Spot)
		env.Change(ctx, pool.Consolidate(fixtures.WhenEmptyOrUnderutilized))
		env.Delete(ctx, large)
		env.Await(ctx, 1, check.RunningPods(app).On(check.ReplacedNodes(pool, before)))
		env.Await(ctx, 0, check.Nodes(pool).Old(before))

		env.Expect(env.Since(before), requireSpot(pool, before), check.Always(check.Each(
			check.ReplacedNodes(pool, before), "are spot nodes", check.Labeled(karpenter.CapacityTypeLabel, karpenter.Spot))))
	},
})
