package termination

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A node that a user deletes drains for its terminationGracePeriod and no longer, as one that
// Karpenter has chosen. Its NodeClaim is deleted with it, at once, and has the deadline.
//
// Source: designs/nodeclaim-termination-grace-period.md; finalizer karpenter.sh/termination on
// nodes; https://karpenter.sh/docs/concepts/disruption, "Manual Methods".
var _ = Suite.Add(e2e.Spec{
	Name: "drains a node that a user deletes for its grace period and no longer",
	Run: func(ctx context.Context, env *e2e.Env) {
		const period = 20 * time.Second
		pool := fixtures.NodePool().TerminationGracePeriod(period.String())
		app := fixtures.Pod().On(pool).Annotate(karpenter.DoNotDisruptAnnotation, "true")
		launchNode(ctx, env, pool)
		env.Create(ctx, app)
		env.Await(ctx, 1, check.RunningPods(app))

		before := env.Mark()
		env.Delete(ctx, env.Await(ctx, 1, check.Nodes(pool))[0])
		env.Await(ctx, 1, check.NodeClaims(pool).Deleting())
		staying := env.Observe(ctx, karpenter.DrainPolled)
		env.Await(ctx, 0, check.Nodes(pool).Old(before))

		deleted := check.AtLeast(1, check.Nodes(pool).Deleting())
		env.Expect(staying, check.While(check.Nodes(pool).Deleting(), check.Exactly(1, check.RunningPods(app))))
		env.Expect(env.Since(before),
			check.Within(karpenter.DrainPoll, check.LeadsTo(deleted, check.AtLeast(1, check.NodeClaims(pool).Deleting()))),
			check.Within(period+karpenter.InstanceEnded, check.LeadsTo(deleted, check.None(check.Nodes(pool).Old(before)))))
	},
})
