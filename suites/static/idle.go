package static

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A static pool keeps its empty nodes, although its policy is to remove empty nodes. Idle
// nodes are the purpose of a static pool. Here a pool that isn't static loses its empty
// node meanwhile.
//
// Source: designs/static-capacity.md, "Consolidation".
var _ = Suite.Add(e2e.Spec{
	Name: "is not consolidated when it is empty",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().Replicas(1).Consolidate(fixtures.WhenEmpty)
		other := fixtures.NodePool().Consolidate(fixtures.WhenEmpty)
		app := fixtures.Deployment(1).On(other)
		env.Create(ctx, pool, other, app)
		env.Await(ctx, 1, check.InitializedNodeClaims(pool))
		env.Await(ctx, 1, check.RunningPods(app))

		before := env.Mark()
		env.Delete(ctx, app)
		env.Await(ctx, 0, check.Nodes(other))

		env.Expect(env.Since(before),
			check.Always(check.None(check.DisruptedNodes(pool))),
			check.LeadsTo(check.AtLeast(1, check.DisruptedNodes(other)), check.None(check.Nodes(other))))
		removeNodes(ctx, env, pool)
	},
})
