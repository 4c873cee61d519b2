package expiration

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A node that expires gets one replacement, even if a PodDisruptionBudget lets its pods
// leave only one at a time. Users notice the cost of a new node for each pod.
//
// Source: designs/forceful-expiration.md; Karpenter's suite "disruption", "should
// replace expired node with a single node and schedule all pods".
var _ = Suite.Add(e2e.Spec{
	Name:   "launches one replacement for one node",
	Within: 8 * time.Minute,
	Run: func(ctx context.Context, env *e2e.Env) {
		// Time enough for the drain, and for a new node that does not expire in its turn meanwhile,
		// though the controller may be killed.
		pool := fixtures.NodePool().ExpireAfter("4m")
		app := fixtures.Deployment(5).On(pool)
		env.Create(ctx, pool, app.MinAvailable(4), app)
		env.Await(ctx, 5, check.RunningPods(app))
		env.Await(ctx, 1, check.ReadyNodes(pool))

		before := env.Mark()
		env.Await(ctx, 0, check.Nodes(pool).Old(before))
		env.Await(ctx, 5, check.RunningPods(app).On(check.ReplacedNodes(pool, before)))
		env.Observe(ctx, karpenter.Settled)

		env.Expect(env.Since(before), expires(pool), check.Always(check.AtMost(1, check.NodeClaims(pool).New(before))))
	},
})
