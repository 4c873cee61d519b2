package repair

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// The NodeClaim of a node that is rebooted says that it is disrupted because it is unhealthy, in
// the word that budgets use. Whoever wonders where the pods went reads it there, whether the
// node is rebooted or replaced.
//
// Source: condition DisruptionReason of the NodeClaim API; Karpenter:
// pkg/controllers/disruption/repair.go, commitReboot.
var _ = Suite.Add(e2e.Spec{
	Name:  "says that a node is rebooted because it is unhealthy",
	Needs: reboots(),
	Since: voluntary(),
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().TerminationGracePeriod(gracePeriod.String())
		app := deployment(1, pool).Annotate(karpenter.DoNotDisruptAnnotation, "true")
		nodes := env.Launch(ctx, 1, pool, app)

		before := env.Mark()
		env.RequireReboot(ctx, nodes...)
		env.Await(ctx, 1, rebooted(pool, before))
		drained := env.Since(before)
		env.RequireNoReboot(ctx, nodes...)
		env.Await(ctx, 0, rebooting(pool))

		env.Expect(drained, check.Always(check.Each(rebooting(pool), "are disrupted as unhealthy",
			check.Because(karpenter.DisruptionReason, fixtures.Unhealthy))))
	},
})
