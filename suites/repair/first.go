package repair

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A node is repaired by a replacement that is ready before it goes: a fault that was
// reported wrongly costs a launch, and nobody's work waits for a new node.
//
// Source: designs/making-node-repair-voluntary.md; Karpenter's regression suite,
// "repairs replace-first: a healthy replacement joins before the unhealthy node is
// removed".
var _ = Suite.Add(e2e.Spec{
	Name:  "keeps an unhealthy node until its replacement is ready",
	Needs: needs(),
	Gate:  gate,
	Since: voluntary(),
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		nodes := running(ctx, env, pool, fixtures.Deployment(1).On(pool), 1)

		before, old := env.Now(), env.World()
		env.Break(ctx, nodes...)
		env.Await(ctx, 0, check.Nodes(pool).Old(old))

		env.Expect(env.Since(before),
			check.Always(check.When(check.AtLeast(1, check.ClaimsWith(pool, karpenter.Deleting, "that are being deleted").Old(old)),
				check.AtLeast(1, check.InitializedClaims(pool).New(old)))))
	},
})
