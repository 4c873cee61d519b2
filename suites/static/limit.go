package static

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A static pool with more replicas than its limit of nodes keeps to the limit. Only the
// limit guards against a wrong number of replicas.
//
// Source: designs/static-capacity.md, "Static NodePool limits".
var _ = Suite.Add(e2e.Spec{
	Name: "never exceeds a limit of nodes",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().Replicas(4).Limit("nodes", "2")

		before := env.Mark()
		env.Create(ctx, pool)
		env.Await(ctx, 2, check.InitializedNodeClaims(pool))
		env.Observe(ctx, karpenter.Settled)

		limit := check.AtMost(2, check.NodeClaims(pool))
		env.Expect(env.Since(before), check.Always(limit), limit.Reached())
		removeNodes(ctx, env, pool)
	},
})
