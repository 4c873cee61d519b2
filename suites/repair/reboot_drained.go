package repair

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter fences a node off before it drains it for a reboot, and reboots it only then. The
// fence goes with the new boot. So a pod ends in its own way, and comes to no node that is
// about to go down.
//
// Source: designs/reboot-node-action.md, "Scheduling fence and draining".
var _ = Suite.Add(e2e.Spec{
	Name:  "fences and drains a node before it reboots it",
	Needs: reboots(),
	Since: voluntary(),
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app := deployment(1, pool)
		nodes := env.Launch(ctx, 1, pool, app)

		before := env.Mark()
		env.RequireReboot(ctx, nodes...)
		env.Await(ctx, 1, rebooting(pool))
		env.RequireNoReboot(ctx, nodes...)
		env.Await(ctx, 0, rebooting(pool))
		env.Await(ctx, 1, check.RunningPods(app))

		env.Expect(env.Since(before),
			check.Whenever(check.Leaves(check.RunningPods(app).Old(before)), "its node is fenced off",
				check.ForAny(check.AtLeast(1, fenced(pool)))),
			check.Whenever(check.Enters(rebooted(pool, before)), "no pod is on it",
				check.ForAny(check.None(check.PodsOf(app).On(check.Nodes(pool))))),
			check.While(fenced(pool), check.None(check.BoundPods(app).New(before))),
			check.LeadsTo(check.AtLeast(1, fenced(pool)), check.None(fenced(pool))))
	},
})
