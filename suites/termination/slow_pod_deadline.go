package termination

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A pod that asks for more time than its node has left gets all of the time that is left. It
// is told to end at once, and its instance isn't terminated while it ends. A database that
// wants two minutes for its last pages, and has one, uses that one. No other pod holds the node.
//
// Source: designs/nodeclaim-termination-grace-period.md;
// spec.terminationGracePeriod of the NodeClaim API.
var _ = Suite.Add(e2e.Spec{
	Name:  "waits for a pod that wants more time than is left before the deadline",
	Since: e2e.Since{Karpenter: "1.6"},
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().TerminationGracePeriod("1m")
		app := fixtures.Pod().On(pool).GracePeriod(120).Lingering()
		env.Create(ctx, pool, app)
		env.Await(ctx, 1, check.RunningPods(app))
		env.Await(ctx, 1, check.NodeClaims(pool).In(karpenter.Initialized))

		before := env.Mark()
		deleteNodeClaim(ctx, env, pool)
		releasePod(ctx, env, app, karpenter.DrainPolled)
		env.Await(ctx, 0, check.Nodes(pool).Old(before))

		env.Expect(env.Since(before), nodesGoAfterDrain(pool), staysForEnding(app, pool))
	},
})
