package repair

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A reboot goes on where it was when the controller is killed meanwhile. Otherwise the node
// would keep its fence, and take no pods for ever. Here the drain waits for a pod that can't
// be evicted, so that the controller is killed before the reboot.
//
// Source: designs/reboot-node-action.md, "Restart-safety".
var _ = Suite.Add(e2e.Spec{
	Name:  "finishes a reboot when the controller is killed during the drain",
	Needs: reboots(),
	Since: voluntary(),
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().TerminationGracePeriod(gracePeriod.String())
		app := deployment(1, pool).Annotate(karpenter.DoNotDisruptAnnotation, "true")
		nodes := env.Launch(ctx, 1, pool, app)

		before := env.Mark()
		env.RequireReboot(ctx, nodes...)
		env.Await(ctx, 1, fenced(pool))
		env.RequireNoReboot(ctx, nodes...)
		killed := env.Mark()
		env.KillController(ctx)
		env.Await(ctx, 0, rebooting(pool))

		env.Expect(env.Since(before), check.Always(check.None(check.NodeClaims(pool).New(before))))
		env.Expect(env.Since(killed), check.LeadsTo(check.AtLeast(1, fenced(pool)), check.None(fenced(pool))),
			check.LeadsTo(check.AtLeast(1, rebooting(pool)), check.Exactly(1, rebooted(pool, killed))))
	},
})
