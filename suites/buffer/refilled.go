package buffer

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter refills a buffer by as much room as pods have taken. The next pods then find
// the same room.
//
// Source: designs/capacity-buffers.md; Karpenter's regression suite, "should refill
// buffer capacity after consumption".
var _ = Suite.Add(e2e.Spec{
	Name:  "launches nodes again when pods have taken its room",
	Known: sharedNode,
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app := fixtures.Deployment(0).OnePodPerNode().On(pool)
		env.Create(ctx, pool, app, fixtures.CapacityBuffer(app).Pods(2))
		env.Await(ctx, 2, check.InitializedNodeClaims(pool))

		before := env.Mark()
		env.Change(ctx, app.Replicas(1))
		env.Await(ctx, 1, check.RunningPods(app))
		env.Await(ctx, 3, check.InitializedNodeClaims(pool))
		env.Observe(ctx, karpenter.Settled)

		env.Expect(env.Since(before),
			check.Always(check.AtMost(3, check.NodeClaims(pool))),
			check.Within(filled,
				check.LeadsTo(check.AtLeast(1, check.BoundPods(app)), check.Exactly(3, check.ReadyNodes(pool)))))
	},
})
