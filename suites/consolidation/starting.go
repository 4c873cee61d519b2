package consolidation

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter removes a node whose pods fit on another one, also while nodes are starting that have
// room for them too. It moves no pods to a node before it is initialized, so it must look at the
// others first. In a busy cluster some node is always starting, and nothing would be removed.
//
// Source: Karpenter: pkg/controllers/provisioning/scheduling/scheduler.go, sortExistingNodes, and
// pkg/controllers/disruption/helpers.go, UninitializedNodeError.
var _ = Suite.Add(e2e.Spec{
	Name: "removes a node whose pods fit on another while nodes with room for them are starting",
	Run: func(ctx context.Context, env *e2e.Env) {
		starting, group := fixtures.Key("starting"), fixtures.Key("group")
		pool := fixtures.NodePool().Consolidate(fixtures.WhenEmptyOrUnderutilized)
		held := fixtures.NodePool().StartupTaint(starting, fixtures.NoSchedule)
		app, first := fixtures.Deployment(2).Select(group, pool.GetName()), fixtures.Deployment(1).On(pool).HostPort(port)
		second := fixtures.Deployment(1).On(pool).HostPort(port).Annotate(karpenter.DoNotDisruptAnnotation, "true")
		env.Create(ctx, pool.Label(group, pool.GetName()), app, first)
		env.Await(ctx, 2, check.RunningPods(app))
		env.Await(ctx, 1, check.RunningPods(first))
		env.Create(ctx, second)
		env.Await(ctx, 1, check.RunningPods(second))
		waiting := fixtures.Deployment(4).On(held).OnePodPerNode()
		env.Create(ctx, held.Label(group, pool.GetName()), waiting)
		env.Await(ctx, 4, check.StartingNodes(held, starting))
		env.Observe(ctx, karpenter.NominationOver)

		before := env.Mark()
		env.Delete(ctx, first)
		env.Await(ctx, 1, check.Nodes(pool))
		env.Await(ctx, 2, check.RunningPods(app).On(check.ReadyNodes(pool)))
		moved := env.Since(before)
		env.KeepUntainted(ctx, check.Nodes(held), starting)
		env.Await(ctx, 4, check.RunningPods(waiting))

		env.Expect(moved,
			check.While(check.DisruptedNodes(pool), check.Exactly(4, check.StartingNodes(held, starting))),
			check.LeadsTo(check.AtLeast(1, check.DisruptedNodes(pool)), check.Exactly(1, check.Nodes(pool))),
			check.Always(check.When(check.None(check.PodsOf(first)), check.None(check.NodeClaims(pool).New(before)))))
	},
})
