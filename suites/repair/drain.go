package repair

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter drains an unhealthy node for its terminationGracePeriod and no longer,
// although its pod must not be disrupted. Nobody knows what still works on it, and the
// pod must run again elsewhere.
//
// Source: designs/making-node-repair-voluntary.md, "Policy"; Karpenter's regression
// suite, "force-terminates a drain-blocked unhealthy node".
var _ = Suite.Add(e2e.Spec{
	Name:  "drains an unhealthy node for its grace period and no longer",
	Since: voluntary(),
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().TerminationGracePeriod(gracePeriod.String())
		app := deployment(1, pool).Annotate(karpenter.DoNotDisruptAnnotation, "true")
		nodes := env.Launch(ctx, 1, pool, app)

		before := env.Mark()
		env.MakeUnhealthy(ctx, nodes...)
		draining := unhealthyNodes(env, pool).Deleting()
		env.Await(ctx, 1, draining)
		staying := env.Observe(ctx, stays)
		env.Await(ctx, 0, check.Nodes(pool).Old(before))
		env.Await(ctx, 1, check.RunningPods(app).New(before))

		env.Expect(staying, check.While(draining, check.Exactly(1, check.RunningPods(app).Old(before))))
		env.Expect(env.Since(before), check.Within(drained, allGo(draining)))
	},
})

// The nodes' grace period, the part of it that a pod surely gets, and the drain's bound.
const (
	gracePeriod = 15 * time.Second
	stays       = 8 * time.Second
	drained     = gracePeriod + karpenter.InstanceEnded
)
