package repair

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter keeps an unhealthy node until its replacement is ready. So a false report
// costs only a launch, and no pods wait for a new node.
//
// Source: designs/making-node-repair-voluntary.md; Karpenter's regression suite,
// "repairs replace-first: a healthy replacement joins before the unhealthy node is
// removed".
var _ = Suite.Add(e2e.Spec{
	Name:  "keeps an unhealthy node until its replacement is ready",
	Since: voluntary(),
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		nodes := env.Launch(ctx, 1, pool, deployment(1, pool))

		before := env.Mark()
		env.MakeUnhealthy(ctx, nodes...)
		env.Await(ctx, 0, check.Nodes(pool).Old(before))

		env.Expect(env.Since(before),
			check.While(check.NodeClaims(pool).Deleting().Old(before),
				check.AtLeast(1, check.InitializedNodeClaims(pool).New(before))))
	},
})
