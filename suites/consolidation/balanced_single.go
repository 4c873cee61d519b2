package consolidation

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// With the policy Balanced, Karpenter subtracts from the price of a node what its replacement costs,
// also if only one instance type could replace it. Users narrow a pool down to a few types that their
// software is licensed for. If the replacement counted as free, their pods would be moved for savings
// that aren't worth it. Here the pools allow the dear type and one other, which saves a third.
//
// Source: designs/balanced-consolidation.md; spec.disruption.consolidationPolicy.
var _ = Suite.Add(e2e.Spec{
	Name:  "subtracts what the only possible replacement costs when its policy is Balanced",
	Known: ruledOutSavings,
	Needs: []providers.Capability{providers.NodePools, providers.Spot, providers.NodeOverlay},
	Gate:  "NodeOverlay",
	Since: e2e.Since{Karpenter: "1.14"},
	Run: func(ctx context.Context, env *e2e.Env) {
		dear, _ := priceTypes(ctx, env)
		others := fixtures.NodePool().OnDemand().Require(corev1.LabelInstanceTypeStable, fixtures.NotIn, dear)
		other := karpenter.InstanceType(env.Launch(ctx, 1, others, fixtures.Deployment(1).On(others))[0].Unstructured())
		keepsDear(ctx, env, dear, func() *fixtures.Pool {
			return fixtures.NodePool().OnDemand().Require(corev1.LabelInstanceTypeStable, fixtures.In, dear, other)
		})
	},
})
