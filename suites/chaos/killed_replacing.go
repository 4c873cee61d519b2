package chaos

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter finishes a replacement although its controller is killed between the launch
// of the new node and the end of the old node. Each old node gets one new node, and stays
// until that is initialized. Only the controller's memory holds the disruption. The
// restarted controller removes the old node's taint and uses the existing replacement.
//
// Source: designs/drift.md; https://karpenter.sh/docs/concepts/disruption,
// "Control Flow": replacements are pre-spun, and a node that can't be disrupted is
// untainted.
var _ = Suite.Add(e2e.Spec{
	Name:   "ends with one new node for each old one when its controller is killed during replacements",
	Within: 3 * time.Minute,
	Run: func(ctx context.Context, env *e2e.Env) {
		starting := fixtures.Key("starting")
		pool := fixtures.NodePool()
		app := fixtures.Deployment(2).OnePodPerNode().On(pool)
		env.Create(ctx, pool, app)
		env.Await(ctx, 2, check.RunningPods(app))

		before := env.Mark()
		env.Change(ctx, pool.Budget("1").StartupTaint(starting, fixtures.NoSchedule))
		first := env.Await(ctx, 1, check.StartingNodes(pool, starting))[0]
		env.KillController(ctx)
		env.Await(ctx, 0, check.DisruptedNodes(pool))
		env.RemoveTaint(ctx, starting, first)
		second := env.Await(ctx, 1, check.StartingNodes(pool, starting).New(env.Mark()))[0]
		env.RemoveTaint(ctx, starting, second)
		env.Await(ctx, 0, check.Nodes(pool).Old(before))
		env.Await(ctx, 2, check.RunningPods(app))

		// Karpenter counts no NodeClaim whose instance is being terminated: where that takes time, the next
		// node is replaced meanwhile.
		replacing := check.AtMost(3,
			check.NodeClaims(pool).With("whose instance isn't being terminated",
				check.True(karpenter.InstanceTerminating).Not()))
		env.Expect(env.Since(before), check.Always(replacing), replacing.Reached(),
			check.Always(check.AtMost(2, check.Nodes(pool).New(before))),
			check.While(check.PodsOf(app), check.AtLeast(2, check.Nodes(pool).Staying())))
	},
})
