package upgrade

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A drain goes on under the new release, and is neither cut short nor forgotten. While a
// PodDisruptionBudget holds it, the pod runs on and its node stays, for longer than the change of
// the controllers. Once the pod may go, the node and its NodeClaim go as well. A drain that is cut
// short is an outage, and a forgotten one is a node that nobody uses and somebody pays for.
//
// Source: https://karpenter.sh/docs/concepts/disruption, "Termination Controller"; the finalizer
// karpenter.sh/termination.
var _ = Suite.Add(e2e.Spec{
	Name:   "goes on with a drain that a PodDisruptionBudget holds",
	Within: 5 * time.Minute,
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app := fixtures.Deployment(1).On(pool)
		guard := app.MinAvailable(1)
		env.Create(ctx, guard)
		node := check.Node(env.Launch(ctx, 1, pool, app)[0].Name)
		nodeClaim := env.Await(ctx, 1, check.InitializedNodeClaims(pool))[0]
		env.Delete(ctx, nodeClaim)
		env.Await(ctx, 1, node.Deleting())

		before := env.Mark()
		env.Upgrade(ctx)
		env.Observe(ctx, takenOver)
		upgraded := env.Since(before)
		env.Delete(ctx, guard)
		env.Await(ctx, 0, check.The(nodeClaim))
		env.Await(ctx, 1, check.RunningPods(app))

		env.Expect(upgraded, check.Always(check.Exactly(1, check.RunningPods(app).On(node))))
		env.Expect(env.Since(before), check.LeadsTo(check.AtLeast(1, node.Deleting()), check.None(node)),
			check.Finally(check.Exactly(1, check.NodeClaims(pool))))
	},
})
