package repair

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// spell is a bit more than half of the day for which a reboot counts.
const spell = 13 * time.Hour

// Karpenter reboots a node whose last two reboots weren't on one day. Only reboots of the last
// 24 hours tell that reboots don't help. A machine that hangs now and then would otherwise be
// replaced, with all that it has cached, where a reboot is enough.
//
// Source: designs/node-repair-candidate-resolution-admission-and-escalation.md: "a sliding
// 24-hour window".
var _ = Suite.Add(e2e.Spec{
	Name:   "reboots a node a third time if the first was more than a day ago",
	Needs:  reboots(),
	Since:  voluntary(),
	Within: 2*spell + time.Hour,
	Labels: []string{"leaps"},
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app := deployment(1, pool)
		nodes := env.Launch(ctx, 1, pool, app)

		before := env.Mark()
		env.Repeat(ctx, 2, spell, func(int) {
			last := env.Mark()
			env.RequireReboot(ctx, nodes...)
			env.Await(ctx, 1, rebooted(pool, last))
			env.RequireNoReboot(ctx, nodes...)
		})
		later := env.Mark()
		env.RequireReboot(ctx, nodes...)
		env.Await(ctx, 1, rebooted(pool, later))
		env.RequireNoReboot(ctx, nodes...)
		env.Await(ctx, 1, check.RunningPods(app))

		env.Expect(env.Since(before),
			check.While(requiringReboot(env, pool), check.Exactly(1, check.Nodes(pool).Old(before))))
		env.Expect(env.Since(later), check.LeadsTo(check.AtLeast(1, requiringReboot(env, pool)),
			check.AtLeast(1, rebooted(pool, later))))
	},
})
