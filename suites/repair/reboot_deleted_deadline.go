package repair

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A node that a user deletes while Karpenter drains it for a reboot has a deadline, as every
// deleted node with a terminationGracePeriod. A pod that must not be disrupted is told to end so
// early that its own grace period fits, and not only when the reboot would have stopped waiting.
//
// Source: designs/nodeclaim-termination-grace-period.md; Karpenter:
// pkg/controllers/node/termination/terminator/eviction.go, merge.
var _ = Suite.Add(e2e.Spec{
	Name:   "evicts pods early enough if their node is deleted during the drain for a reboot",
	Needs:  reboots(),
	Since:  voluntary(),
	Within: 3 * time.Minute,
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().TerminationGracePeriod("1m")
		app := deployment(1, pool).GracePeriod(45).Annotate(karpenter.DoNotDisruptAnnotation, "true")
		nodes := env.Launch(ctx, 1, pool, app)

		before := env.Mark()
		env.RequireReboot(ctx, nodes...)
		env.Await(ctx, 1, fenced(pool))
		env.Observe(ctx, karpenter.DrainPolled)
		env.Delete(ctx, env.Await(ctx, 1, rebooting(pool))[0])
		env.Await(ctx, 0, check.Nodes(pool).Old(before))

		env.Expect(env.Since(before), check.Within(15*time.Second+karpenter.DrainEnded, check.LeadsTo(
			check.AtLeast(1, check.NodeClaims(pool).Deleting().Old(before)),
			check.None(check.RunningPods(app).Old(before)))))
	},
})
