package consolidation

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// With the policy Balanced, only the shares of a NodePool count: how much of its price a move
// saves, and how much of what is costly to move it moves. So prices that are a hundred times as
// high change nothing, as in another currency or in a pool of large machines.
//
// Source: designs/balanced-consolidation.md; spec.disruption.consolidationPolicy.
var _ = Suite.Add(e2e.Spec{
	Name:  "replaces a node that is much too large at any prices when its policy is Balanced",
	Needs: []providers.Capability{providers.NodePools, providers.NodeOverlay},
	Gate:  "NodeOverlay",
	Since: e2e.Since{Karpenter: "1.14"},
	Run: func(ctx context.Context, env *e2e.Env) {
		dear := fixtures.NodeOverlay().PriceAdjustment("+9900%")
		env.Create(ctx, dear)
		env.Await(ctx, 1, check.The(dear).In(karpenter.Ready))
		replacesLarge(ctx, env)
	},
})
