package nodeclaim

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// A NodeClaim without a NodePool is left alone though nothing runs on its node, while the
// empty node of a pool goes: what its node is for only its maker knows, and it is its
// maker who ends it.
//
// Source: https://karpenter.sh/docs/concepts/nodeclaims; spec.disruption is a NodePool's,
// and a NodeClaim has none.
var _ = Suite.Add(e2e.Spec{
	Name:  "is left alone though nothing runs on its node",
	Needs: append(needs(), providers.NodePools),
	Run: func(ctx context.Context, env *e2e.Env) {
		claim := fixtures.NodeClaim()
		pool := fixtures.NodePool().ConsolidationPolicy(fixtures.WhenEmpty).ConsolidateAfter("0s")
		app := fixtures.Deployment(1).On(pool)
		env.Create(ctx, claim, pool, app)
		env.Await(ctx, 1, in(claim, karpenter.Initialized))
		env.Await(ctx, 1, check.RunningPods(app))

		before := env.Now()
		env.Delete(ctx, app)
		env.Await(ctx, 0, check.Nodes(pool))
		env.Watch(ctx, settled)

		env.Expect(env.Since(before),
			check.Always(check.None(deleting(claims(claim)))),
			check.LeadsTo(check.AtLeast(1, check.DisruptedNodes(pool)), check.None(check.Nodes(pool))))
	},
})
