package repair

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter reboots no more nodes of a pool at once than its budget allows. A driver that
// hangs on every machine must not take the whole pool down. Here pods that can't be evicted
// make each reboot last. Two of six nodes are within the fifth at which repair stops, which is
// rounded up.
//
// Source: designs/node-repair-candidate-resolution-admission-and-escalation.md; Karpenter's
// suite "disruption", "does not reboot more nodes at once than the disruption budget allows".
var _ = Suite.Add(e2e.Spec{
	Name:  "reboots no more nodes at once than the budget allows",
	Needs: reboots(),
	Since: voluntary(),
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().Budget("1").TerminationGracePeriod(gracePeriod.String())
		app := deployment(6, pool).OnePodPerNode().Annotate(karpenter.DoNotDisruptAnnotation, "true")
		nodes := env.Launch(ctx, 6, pool, app)

		before := env.Mark()
		env.RequireReboot(ctx, nodes[0], nodes[1])
		env.Await(ctx, 2, rebooted(pool, before))

		env.Expect(env.Since(before), check.Always(check.AtMost(1, rebooting(pool))),
			check.Always(check.None(check.NodeClaims(pool).New(before))))
	},
})
