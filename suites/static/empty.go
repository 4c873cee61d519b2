package static

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A static pool that shrinks removes its empty nodes. The removal of spare nodes must not
// restart the pods on the other nodes.
//
// Source: designs/static-capacity.md, "Deprovisioning Controller": empty nodes
// are terminated first.
var _ = Suite.Add(e2e.Spec{
	Name: "removes empty nodes before those with pods",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().Replicas(4)
		app := fixtures.Deployment(2).On(pool).OnePodPerNode()
		env.Create(ctx, pool)
		env.Await(ctx, 4, check.InitializedNodeClaims(pool))
		env.Create(ctx, app)
		env.Await(ctx, 2, check.RunningPods(app))

		before := env.Mark()
		env.Change(ctx, pool.Replicas(2))
		env.Await(ctx, 2, check.Nodes(pool))

		env.Expect(env.Since(before),
			check.Always(check.Exactly(2, check.RunningPods(app).Old(before))),
			check.Always(check.None(check.NodeClaims(pool).New(before))))
		removeNodes(ctx, env, pool)
	},
})
