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

// Karpenter never replaces a spot node with another if fewer than fifteen instance types
// are cheaper. Pods would move again and again towards the cheapest type, which is
// interrupted first. Here the pool of spot nodes has one cheaper type and keeps its large
// node. A pool of on-demand nodes replaces its large node.
//
// Source: designs/spot-consolidation.md, "Minimum Flexibility".
var _ = Suite.Add(e2e.Spec{
	Name:  "keeps a spot node if few instance types are cheaper",
	Needs: []providers.Capability{providers.NodePools, providers.Spot},
	Run: func(ctx context.Context, env *e2e.Env) {
		free := fixtures.NodePool().OnDemand().Consolidate(fixtures.WhenEmptyOrUnderutilized)
		held := fixtures.NodePool().CapacityType(karpenter.Spot)
		freely, large := fixtures.Deployment(2).OnePodPerNode().On(free), fixtures.Deployment(1).On(free).CPU("3")
		holding, spot := fixtures.Deployment(2).OnePodPerNode().On(held), fixtures.Deployment(1).On(held).CPU("3")
		env.Create(ctx, free, large)
		env.Await(ctx, 1, check.RunningPods(large))
		env.Create(ctx, freely)
		env.Await(ctx, 2, check.RunningPods(freely))
		nodes := env.Await(ctx, 2, check.ReadyNodes(free))
		held.Require(corev1.LabelInstanceTypeStable, fixtures.In,
			karpenter.InstanceType(nodes[0].Unstructured()), karpenter.InstanceType(nodes[1].Unstructured()))
		env.Create(ctx, held.Consolidate(fixtures.WhenEmptyOrUnderutilized), spot)
		env.Await(ctx, 1, check.RunningPods(spot))
		env.Create(ctx, holding)
		env.Await(ctx, 2, check.RunningPods(holding))
		env.Observe(ctx, karpenter.NominationOver)

		before := env.Mark()
		env.Delete(ctx, large, spot)
		env.Await(ctx, 1, check.DisruptedNodes(free))
		env.Observe(ctx, karpenter.ConsolidationDecided)
		env.Await(ctx, 1, check.Nodes(free).Old(before))

		env.Expect(env.Since(before),
			check.Always(check.When(check.None(check.PodsOf(spot)), neverDisrupted(holding, held))),
			check.LeadsTo(check.AtLeast(1, check.DisruptedNodes(free)), check.AtLeast(1, check.ReplacedNodes(free, before))))
	},
})
