package upgrade

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// The new release finishes a replacement that the old one began: each drifted node gets one new
// node, and stays until that is ready for work. Only the memory of the old controller holds the
// disruption. The new one must take the replacement for what it is, and must not launch a second one.
//
// Source: designs/drift.md; https://karpenter.sh/docs/concepts/disruption, "Control Flow".
var _ = Suite.Add(e2e.Spec{
	Name:   "ends a replacement in progress with one new node for each old one",
	Within: 6 * time.Minute,
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app := fixtures.Deployment(2).OnePodPerNode().On(pool)
		env.Launch(ctx, 2, pool, app)

		before := env.Mark()
		env.Change(ctx, pool.Budget("1").StartupTaint(held, fixtures.NoSchedule))
		first := env.Await(ctx, 1, check.StartingNodes(pool, held))[0]
		env.Upgrade(ctx)
		env.Await(ctx, 0, check.DisruptedNodes(pool))
		env.RemoveTaint(ctx, held, first)
		second := env.Await(ctx, 1, check.StartingNodes(pool, held).New(env.Mark()))[0]
		env.RemoveTaint(ctx, held, second)
		env.Await(ctx, 0, check.Nodes(pool).Old(before))
		env.Await(ctx, 2, check.RunningPods(app))

		replacing := check.AtMost(3, check.NodeClaims(pool).With("whose instance isn't being terminated",
			check.True(karpenter.InstanceTerminating).Not()))
		env.Expect(env.Since(before), check.Always(replacing), replacing.Reached(),
			check.Always(check.AtMost(2, check.Nodes(pool).New(before))),
			check.While(check.PodsOf(app), check.AtLeast(2, check.Nodes(pool).Staying())))
	},
})
