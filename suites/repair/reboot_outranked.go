package repair

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// Karpenter replaces a node that has both a fault that a reboot clears and one that it does
// not clear. A reboot first would only drain the node once more, and put the replacement off.
//
// Source: designs/node-repair-candidate-resolution-admission-and-escalation.md, "Candidate
// Resolution".
var _ = Suite.Add(e2e.Spec{
	Name:  "replaces a node that requires a reboot and has another fault as well",
	Needs: append(reboots(), providers.NodeRepair),
	Since: voluntary(),
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		nodes := env.Launch(ctx, 1, pool, deployment(1, pool))

		before := env.Mark()
		env.MakeUnhealthy(ctx, nodes...)
		env.RequireReboot(ctx, nodes...)
		env.Await(ctx, 0, check.Nodes(pool).Old(before))

		env.Expect(env.Since(before), unhealthyNodesGo(env, pool),
			check.While(requiringReboot(env, pool), check.None(rebooting(pool))))
	},
})
