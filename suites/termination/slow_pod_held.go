package termination

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A pod that must not be disrupted is told to end shortly before the deadline, and uses the time
// that is left: its instance isn't terminated while it ends. Otherwise a job that was protected
// until then would lose its last minute, in which it writes down how far it came. No other pod
// holds the node.
//
// Source: designs/nodeclaim-termination-grace-period.md; Karpenter:
// pkg/controllers/node/termination/terminator/terminator.go, Drain.
var _ = Suite.Add(e2e.Spec{
	Name:  "waits for a protected pod that it tells to end before the deadline",
	Since: e2e.Since{Karpenter: "1.6"},
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().TerminationGracePeriod("1m")
		app := fixtures.Pod().On(pool).GracePeriod(40).Annotate(karpenter.DoNotDisruptAnnotation, "true").Lingering()
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
