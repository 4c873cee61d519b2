package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// A pod chooses spot or on-demand capacity if its pool allows both. Pods that must not be
// interrupted stay on-demand, and other pods can be cheap.
//
// Source: the label karpenter.sh/capacity-type,
// https://karpenter.sh/docs/concepts/scheduling, "Well-Known Labels".
var _ = Suite.Add(e2e.Spec{
	Name:  "lets pods choose between spot and on-demand nodes",
	Needs: []providers.Capability{providers.NodePools, providers.Spot},
	Run: func(ctx context.Context, env *e2e.Env) {
		kind := karpenter.CapacityTypeLabel
		pool := fixtures.NodePool().Require(kind, fixtures.In, karpenter.Spot, karpenter.OnDemand)
		steady := fixtures.Deployment(1).On(pool).Select(kind, karpenter.OnDemand)
		cheap := fixtures.Deployment(1).On(pool).Select(kind, karpenter.Spot)

		before := env.Mark()
		env.Create(ctx, pool, steady)
		env.Await(ctx, 1, check.RunningPods(steady))
		env.Await(ctx, 1, labeledNodes(pool, kind, karpenter.OnDemand))
		env.Create(ctx, cheap)
		env.Await(ctx, 1, check.RunningPods(cheap))
		env.Await(ctx, 1, labeledNodes(pool, kind, karpenter.Spot))

		env.Expect(env.Since(before), check.Always(check.AtMost(2, check.NodeClaims(pool))))
	},
})
