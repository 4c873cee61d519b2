package repair

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter reboots a node in place if a reboot clears its fault. The node and its NodeClaim
// stay, nothing is launched meanwhile, and pods run on it again. A replacement would give up
// a machine that may be hard to get, and the data on its disks.
//
// Source: designs/reboot-node-action.md; Karpenter's suite "disruption", "reboots a node in
// place when repair matches a reboot policy".
var _ = Suite.Add(e2e.Spec{
	Name:  "reboots a node in place, if a reboot clears its fault",
	Needs: reboots(),
	Since: voluntary(),
	Known: []e2e.Known{{
		Releases:  "1.15.0", // seen in v1.15.0, which is the first release that reboots
		Issue:     e2e.Finding("karpenter-reboots-without-initialization"),
		Reason:    "a NodeClaim is initialized again from an old copy of its node, and the node never is",
		Breaks:    []string{"^waited for 1 node of pool .* that is initialized"},
		Sometimes: true,
	}},
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app := deployment(1, pool)
		nodes := env.Launch(ctx, 1, pool, app)

		before := env.Mark()
		env.RequireReboot(ctx, nodes...)
		env.Await(ctx, 1, rebooting(pool))
		env.RequireNoReboot(ctx, nodes...)
		env.Await(ctx, 0, rebooting(pool))
		env.Await(ctx, 1, check.InitializedNodes(pool))
		env.Await(ctx, 1, check.RunningPods(app))

		env.Expect(env.Since(before),
			check.LeadsTo(check.AtLeast(1, requiringReboot(env, pool)), check.Exactly(1, rebooted(pool, before))))
		env.Expect(env.Since(before),
			check.Always(check.Exactly(1, check.Nodes(pool).Old(before))),
			check.Always(check.None(check.NodeClaims(pool).New(before))))
	},
})
