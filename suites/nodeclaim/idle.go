package nodeclaim

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// Karpenter keeps a NodeClaim without a NodePool although its node is empty. Its creator
// deletes it, because only the creator knows its purpose. Here a pool's empty node is
// removed meanwhile.
//
// Source: https://karpenter.sh/docs/concepts/nodeclaims; spec.disruption is a NodePool's,
// and a NodeClaim has none.
var _ = Suite.Add(e2e.Spec{
	Name:  "is not consolidated although its node is empty",
	Needs: []providers.Capability{providers.StandaloneNodeClaims, providers.NodePools},
	Run: func(ctx context.Context, env *e2e.Env) {
		nodeClaim := fixtures.NodeClaim()
		pool := fixtures.NodePool().Consolidate(fixtures.WhenEmpty)
		app := fixtures.Deployment(1).On(pool)
		env.Create(ctx, nodeClaim, pool, app)
		env.Await(ctx, 1, check.The(nodeClaim).In(karpenter.Initialized))
		env.Await(ctx, 1, check.RunningPods(app))

		before := env.Mark()
		env.Delete(ctx, app)
		env.Await(ctx, 0, check.Nodes(pool))
		env.Observe(ctx, karpenter.Settled)

		env.Expect(env.Since(before),
			check.Always(check.None(check.The(nodeClaim).Deleting())),
			check.LeadsTo(check.AtLeast(1, check.DisruptedNodes(pool)), check.None(check.Nodes(pool))))
	},
})
