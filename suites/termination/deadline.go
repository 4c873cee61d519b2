package termination

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter respects PodDisruptionBudgets until the terminationGracePeriod ends, and then
// ends the drain. A budget that can never be met, such as for a single pod that must be
// available, would keep an insecure machine forever.
//
// Source: designs/nodeclaim-termination-grace-period.md;
// spec.terminationGracePeriod of the NodeClaim API.
var _ = Suite.Add(e2e.Spec{
	Name: "ends at the deadline, whatever PodDisruptionBudgets say",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().TerminationGracePeriod("10s")
		app := fixtures.Pod().On(pool)
		launchNode(ctx, env, pool)
		env.Create(ctx, app.MinAvailable(1), app)
		env.Await(ctx, 1, check.RunningPods(app))

		before := env.Mark()
		deleteNodeClaim(ctx, env, pool)
		env.Await(ctx, 1, check.Nodes(pool).Deleting())
		staying := env.Observe(ctx, karpenter.DrainPolled)
		env.Await(ctx, 0, check.Nodes(pool).Old(before))

		env.Expect(staying, check.While(check.Nodes(pool).Deleting(), check.Exactly(1, check.RunningPods(app))))
		env.Expect(env.Since(before), check.Within(bounded, nodesGoAfterDrain(pool)))
	},
})

// bounded bounds the removal of a node with a grace period of ten seconds.
const bounded = 10*time.Second + karpenter.InstanceEnded
