package repair

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// An unhealthy node is drained for its termination grace period and no longer, although
// its pod must not be disrupted: nobody knows what still works on such a node, and the
// pod is to run again elsewhere.
//
// Source: designs/making-node-repair-voluntary.md, "Policy"; Karpenter's regression
// suite, "force-terminates a drain-blocked unhealthy node".
var _ = Suite.Add(e2e.Spec{
	Name:  "drains an unhealthy node for its grace period and no longer",
	Needs: needs(),
	Gate:  gate,
	Since: voluntary(),
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().TerminationGracePeriod(gracePeriod)
		app := fixtures.Deployment(1).On(pool).Annotate(karpenter.DoNotDisruptAnnotation, "true")
		nodes := running(ctx, env, pool, app, 1)

		before, old := env.Now(), env.World()
		env.Break(ctx, nodes...)
		draining := unhealthy(env, pool).With("and being deleted", karpenter.Deleting)
		env.Await(ctx, 1, draining)
		staying := env.Watch(ctx, stays)
		env.Await(ctx, 0, check.Nodes(pool).Old(old))
		env.Await(ctx, 1, check.RunningPods(app).New(old))

		env.Expect(staying, check.Always(check.When(check.AtLeast(1, draining), check.Exactly(1, check.RunningPods(app).Old(old)))))
		env.Expect(env.Since(before), check.Within(drained, check.LeadsTo(check.AtLeast(1, draining), check.None(draining))))
	},
})

// The grace period of these nodes, how long a pod is sure to have of it, and how
// long a drain may take all in all: Karpenter looks again every few seconds.
const (
	gracePeriod = "15s"
	stays       = 8 * time.Second
	drained     = 35 * time.Second
)
