package termination

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter waits for pods that were told to end. Until they are gone, their node isn't
// drained and its instance isn't terminated. A database that writes its last pages for a
// minute doesn't lose them when the machine stops.
//
// Source: condition Drained of the NodeClaim API;
// https://karpenter.sh/docs/concepts/disruption, "Termination Controller".
var _ = Suite.Add(e2e.Spec{
	Name:  "waits for pods until they have ended",
	Since: e2e.Since{Karpenter: "1.6"},
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app := fixtures.Pod().On(pool).Lingering()
		launchNode(ctx, env, pool)
		env.Create(ctx, app)
		env.Await(ctx, 1, check.RunningPods(app))

		before := env.Mark()
		deleteNodeClaim(ctx, env, pool)
		releasePod(ctx, env, app, karpenter.DrainPolled)
		env.Await(ctx, 0, check.Nodes(pool).Old(before))

		env.Expect(env.Since(before), nodesGoAfterDrain(pool), staysForEnding(app, pool))
	},
})
