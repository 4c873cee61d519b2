package cloud

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// A pod gets a spot node if its pool allows spot and on-demand and the pod accepts both.
// Users allow spot because it costs less.
//
// Source: https://karpenter.sh/docs/concepts/nodepools, "Capacity Type": spot comes before
// on-demand where both are allowed.
var _ = Suite.Add(e2e.Spec{
	Name:  "gives a spot node if both capacity types are allowed and the cloud has spot capacity",
	Needs: []providers.Capability{providers.NodePools, providers.Spot},
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().CapacityType(karpenter.Spot, karpenter.OnDemand)
		app := fixtures.Deployment(2).OnePodPerNode().On(pool)

		before := env.Mark()
		env.Launch(ctx, 2, pool, app)

		launched := check.NodeClaims(pool).In(karpenter.Launched)
		env.Expect(env.Since(before),
			check.Always(check.AtMost(2, check.NodeClaims(pool).Staying())),
			check.Always(check.Each(launched, "are spot", check.Labeled(karpenter.CapacityTypeLabel, karpenter.Spot))))
	},
})
