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

// ruledOutSavings is a failure of pools with the policy Balanced where a capacity type that they don't allow is cheap.
var ruledOutSavings = []e2e.Known{{
	Releases: ">=1.14.0 <1.14.1", // seen in v1.14.0
	Issue:    "https://github.com/kubernetes-sigs/karpenter/pull/3217",
	Reason:   "savings are computed with offerings that the NodePool rules out",
	Breaks:   []string{"^always no nodes of pool .* that are disrupted"},
}}

// With the policy Balanced, Karpenter counts only what the NodePool can save. Here spot
// is nearly free, but the pool allows none. An on-demand node of another type saves a
// third, which is too little for a move of all pods. Another pool's policy is content
// with it. Both pools allow one zone, so each type is offered to them at a single price.
//
// Source: designs/balanced-consolidation.md;
// https://github.com/kubernetes-sigs/karpenter/pull/3217.
var _ = Suite.Add(e2e.Spec{
	Name:  "counts no savings that the NodePool rules out when its policy is Balanced",
	Known: ruledOutSavings,
	Needs: []providers.Capability{providers.NodePools, providers.Spot, providers.NodeOverlay},
	Gate:  "NodeOverlay",
	Since: e2e.Since{Karpenter: "1.14"},
	Run: func(ctx context.Context, env *e2e.Env) {
		dear, zone := priceTypes(ctx, env)
		keepsDear(ctx, env, dear, func() *fixtures.Pool {
			return fixtures.NodePool().OnDemand().Require(corev1.LabelTopologyZone, fixtures.In, zone)
		})
	},
})

// priceTypes makes spot nearly free, and an instance type dearer than all others. It
// returns the type, and a zone in which it is offered. Later launches pay these prices:
// Karpenter would notice new prices of old nodes within an hour.
func priceTypes(ctx context.Context, env *e2e.Env) (dear, zone string) {
	pool := fixtures.NodePool()
	node := env.Launch(ctx, 1, pool, fixtures.Deployment(1).On(pool))[0].Unstructured()
	dear, zone = karpenter.InstanceType(node), karpenter.Label(node, corev1.LabelTopologyZone)
	onDemand := fixtures.NodeOverlay().Require(karpenter.CapacityTypeLabel, fixtures.In, karpenter.OnDemand).Price("1")
	spot := fixtures.NodeOverlay().Require(karpenter.CapacityTypeLabel, fixtures.In, karpenter.Spot).Price("0.01")
	dearer := fixtures.NodeOverlay().Require(karpenter.CapacityTypeLabel, fixtures.In, karpenter.OnDemand).
		Require(corev1.LabelInstanceTypeStable, fixtures.In, dear).Price("1.5").Weight(2)
	env.Create(ctx, onDemand, spot, dearer)
	env.Await(ctx, 3, check.The(onDemand, spot, dearer).In(karpenter.Ready))
	return dear, zone
}

// keepsDear checks that of two equal pools, the one with the policy Balanced keeps a node of the dear type, whose
// replacement would save a third, and the other one replaces such a node.
func keepsDear(ctx context.Context, env *e2e.Env, dear string, pool func() *fixtures.Pool) {
	held, free := pool().Consolidate(fixtures.Balanced), pool().Consolidate(fixtures.WhenEmptyOrUnderutilized)
	first := fixtures.Pod().On(held).Select(corev1.LabelInstanceTypeStable, dear)
	second := fixtures.Pod().On(free).Select(corev1.LabelInstanceTypeStable, dear)
	holding, freely := fixtures.Deployment(1).On(held), fixtures.Deployment(1).On(free)
	env.Create(ctx, held, free, first, second)
	env.Await(ctx, 1, check.RunningPods(first))
	env.Await(ctx, 1, check.RunningPods(second))
	env.Create(ctx, holding, freely)
	env.Await(ctx, 1, check.RunningPods(holding))
	env.Await(ctx, 1, check.RunningPods(freely))
	env.Observe(ctx, karpenter.NominationOver)

	before := env.Mark()
	env.Delete(ctx, first, second)
	env.Await(ctx, 1, check.DisruptedNodes(free))
	env.Observe(ctx, karpenter.ConsolidationDecided)

	env.Expect(env.Since(before),
		check.Always(check.None(check.DisruptedNodes(held))),
		check.LeadsTo(check.AtLeast(1, check.DisruptedNodes(free)), check.AtLeast(1, check.ReplacedNodes(free, before))))
}
