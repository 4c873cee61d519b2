package api

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A pool's status says how many nodes it has, and what CPUs and memory they have
// together: as nodes come, and again when they have gone. It is what limits are
// compared with, and what people look at who pay.
//
// Source: status.resources of the NodePool API.
var _ = Suite.Add(e2e.Spec{
	Name:   "counts in a pool's status the nodes that come and go, and what they have",
	Within: 90 * time.Second,
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().Consolidate(fixtures.WhenEmpty)
		app := fixtures.Deployment(2).OnePodPerNode().On(pool)
		before := env.Mark()
		env.Create(ctx, pool, app)
		env.Await(ctx, 2, check.RunningPods(app))
		nodes := env.Await(ctx, 2, check.InitializedNodes(pool))
		env.Await(ctx, 1, counting(pool, nodes...))

		env.Change(ctx, app.Replicas(0))
		env.Await(ctx, 0, check.Nodes(pool))
		env.Await(ctx, 1, counting(pool))

		env.Expect(env.Since(before),
			check.LeadsTo(check.Exactly(2, check.ReadyNodes(pool)), check.Exactly(1, counting(pool, nodes...))),
			check.LeadsTo(check.AtLeast(1, check.DisruptedNodes(pool)), check.Exactly(1, counting(pool))))
	},
})
