package repair

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A pod that can't be evicted stays on its node through a reboot. Karpenter waits for it for
// the node's grace period, and then reboots. The pod's containers start again when the node
// is back. Karpenter must not delete what only its user may end.
//
// Source: designs/reboot-node-action.md, "Force-delete residual pods"; Karpenter's suite
// "disruption", "keeps a pod that can't be evicted on the node through the reboot".
var _ = Suite.Add(e2e.Spec{
	Name:  "keeps a pod that can't be evicted on its node through a reboot",
	Needs: reboots(),
	Since: voluntary(),
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().TerminationGracePeriod(gracePeriod.String())
		app := deployment(1, pool).Annotate(karpenter.DoNotDisruptAnnotation, "true")
		nodes := env.Launch(ctx, 1, pool, app)

		before := env.Mark()
		env.RequireReboot(ctx, nodes...)
		env.Await(ctx, 1, rebooting(pool))
		staying := env.Observe(ctx, stays)
		env.RequireNoReboot(ctx, nodes...)
		env.Await(ctx, 0, rebooting(pool))

		env.Expect(staying, check.While(rebooting(pool), check.None(rebooted(pool, before))))
		env.Expect(env.Since(before),
			check.Always(check.Exactly(1, check.RunningPods(app).Old(before))),
			check.Within(drained, check.LeadsTo(check.AtLeast(1, rebooting(pool)), check.Exactly(1, rebooted(pool, before)))))
	},
})
