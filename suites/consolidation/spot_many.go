package consolidation

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// With the feature gate on, Karpenter replaces a spot node that is too large with a
// smaller spot node. This needs fifteen or more cheaper instance types, because spot
// nodes need them to find capacity. A node for a pod of twenty CPUs has that many. The
// replacement must be spot, although the pool also allows other nodes: these cost more. It is
// offered the fifteen cheapest types only. With more, a dearer one would be launched, and be
// replaced again.
//
// Source: designs/spot-consolidation.md; feature gate SpotToSpotConsolidation.
var _ = Suite.Add(e2e.Spec{
	Name:  "replaces a spot node by a spot node if many instance types are cheaper",
	Needs: []providers.Capability{providers.NodePools, providers.Spot},
	Gate:  "SpotToSpotConsolidation",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().CapacityType(karpenter.Spot, karpenter.OnDemand).
			Consolidate(fixtures.WhenEmptyOrUnderutilized)
		app, large := fixtures.Deployment(1).On(pool), fixtures.Pod().On(pool).CPU("20")
		env.Create(ctx, pool, large)
		env.Await(ctx, 1, check.RunningPods(large))
		env.Create(ctx, app)
		env.Await(ctx, 1, check.RunningPods(app))
		node := env.Await(ctx, 1, check.ReadyNodes(pool))[0].Unstructured()

		before := env.Mark()
		env.Delete(ctx, large)
		env.Await(ctx, 1, check.RunningPods(app).On(check.ReplacedNodes(pool, before)))
		env.Await(ctx, 0, check.Nodes(pool).Old(before))

		env.Expect(env.Since(before), requireSpot(pool, before), offersTypes(15, pool, before))
		env.Expect(env.Since(before), check.Always(check.Each(check.ReplacedNodes(pool, before), "are smaller spot nodes",
			func(replacement *unstructured.Unstructured) bool {
				return hasLessCPU(replacement, node) && karpenter.Label(replacement, karpenter.CapacityTypeLabel) == karpenter.Spot
			})))
	},
})
