package repair

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// A provider may say how long an unhealthy node's pods get at most. Karpenter keeps to it, although
// the pool gives its nodes longer. A pool's hour is for pods that work: on a node that is broken, a
// pod that must not be disrupted would hold up its own recovery.
//
// Source: designs/making-node-repair-voluntary.md, "Policy"; Karpenter: pkg/cloudprovider/types.go,
// RepairPolicy, and pkg/controllers/disruption/queue.go, waitOrTerminate.
var _ = Suite.Add(e2e.Spec{
	Name:  "drains an unhealthy node for no longer than its provider says, whatever its grace period",
	Since: voluntary(),
	Run: func(ctx context.Context, env *e2e.Env) {
		bound := env.Bound(providers.NodeRepair)
		pool := fixtures.NodePool().TerminationGracePeriod("1h")
		app := deployment(1, pool).Annotate(karpenter.DoNotDisruptAnnotation, "true")
		nodes := env.Launch(ctx, 1, pool, app)

		before := env.Mark()
		env.MakeUnhealthy(ctx, nodes...)
		draining := unhealthyNodes(env, pool).Deleting()
		env.Await(ctx, 1, draining)
		env.Await(ctx, 0, check.Nodes(pool).Old(before))
		env.Await(ctx, 1, check.RunningPods(app).New(before))

		env.Expect(env.Since(before), check.Within(bound+karpenter.InstanceEnded, allGo(draining)))
	},
})
