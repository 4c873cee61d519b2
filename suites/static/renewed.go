package static

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// If a user deletes a node, a static pool replaces it with one new node. The pool keeps
// its number of replicas, so that nobody has to watch its nodes.
//
// Source: spec.replicas of the NodePool API; designs/static-capacity.md, "Scale-Up
// Controller".
var _ = Suite.Add(e2e.Spec{
	Name: "replaces a node that a user deletes",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().Replicas(2)
		env.Create(ctx, pool)
		env.Await(ctx, 2, check.InitializedNodeClaims(pool))

		before := env.Mark()
		env.Delete(ctx, fixtures.Node(env.Await(ctx, 2, check.ReadyNodes(pool))[0].Name))
		env.Await(ctx, 1, check.ReadyNodes(pool).Old(before))
		env.Await(ctx, 1, check.ReadyNodes(pool).New(before))
		env.Await(ctx, 2, check.InitializedNodeClaims(pool))
		env.Observe(ctx, karpenter.Settled)

		env.Expect(env.Since(before),
			check.LeadsTo(check.AtLeast(1, check.DisruptedNodes(pool)), check.Exactly(1, check.ReadyNodes(pool).New(before))),
			check.Always(check.AtMost(2, check.NodeClaims(pool).Staying())),
			check.Always(check.AtMost(1, check.NodeClaims(pool).New(before))))
		removeNodes(ctx, env, pool)
	},
})
