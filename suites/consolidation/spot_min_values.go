package consolidation

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// A spot node that replaces another is offered fifteen instance types, or more of them if the
// pool's minValues say so. With fewer types than users demand, spot nodes are interrupted more
// often than they want. The node is launched before the pool has minValues, since few types may be
// large enough for a pod of forty CPUs.
//
// Source: designs/spot-consolidation.md, "minValues"; feature gate SpotToSpotConsolidation.
var _ = Suite.Add(e2e.Spec{
	Name:  "offers the spot node that replaces another as many types as minValues demand",
	Needs: []providers.Capability{providers.NodePools, providers.Spot},
	Gate:  "SpotToSpotConsolidation",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().CapacityType(karpenter.Spot).Consolidate(fixtures.WhenEmptyOrUnderutilized)
		app, large := fixtures.Deployment(1).On(pool), fixtures.Pod().On(pool).CPU("40")
		env.Create(ctx, pool, large)
		env.Await(ctx, 1, check.RunningPods(large))
		env.Create(ctx, app)
		env.Await(ctx, 1, check.RunningPods(app))
		env.Change(ctx, pool.MinValues(corev1.LabelInstanceTypeStable, manyTypes))
		env.Observe(ctx, karpenter.NominationOver)

		before := env.Mark()
		env.Delete(ctx, large)
		env.Await(ctx, 1, check.RunningPods(app).On(check.ReplacedNodes(pool, before)))
		env.Await(ctx, 0, check.Nodes(pool).Old(before))

		env.Expect(env.Since(before), offersTypes(manyTypes, pool, before))
	},
})

// manyTypes is more types than Karpenter offers a spot node without minValues.
const manyTypes = 17
