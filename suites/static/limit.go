package static

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
)

// A static pool with more replicas than its limit of nodes keeps to the limit,
// and grows when the limit is raised: it is the one guard against a slip in the
// number of replicas.
//
// Source: designs/static-capacity.md, "Static NodePool limits".
var _ = Suite.Add(e2e.Spec{
	Name:  "never exceeds a limit of nodes",
	Needs: needs(),
	Gate:  gate,
	Since: e2e.Since{Karpenter: "1.8"},
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := static(4).Limit("nodes", "2")

		before := env.Now()
		env.Create(ctx, pool)
		env.Await(ctx, 2, check.InitializedClaims(pool))
		env.Watch(ctx, settled)

		limit := check.AtMost(2, check.NodeClaims(pool))
		env.Expect(env.Since(before), check.Always(limit), limit.Reached())
		retire(ctx, env, pool)
	},
})
