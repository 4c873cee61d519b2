package repair

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter reboots a node twice at most, and replaces it if its fault is still there. A
// machine that no reboot helps would otherwise be drained again and again, and never run a pod
// for long.
//
// Source: designs/node-repair-candidate-resolution-admission-and-escalation.md, "Exhausted
// Reboot Attempts"; Karpenter's suite "disruption", "reboots twice, then replaces, when the
// fault persists across reboots".
var _ = Suite.Add(e2e.Spec{
	Name:  "replaces a node whose fault outlives two reboots",
	Needs: reboots(),
	Since: voluntary(),
	// Each toleration begins at the end of a reboot. The first one is added anyway.
	Within: 5 * time.Minute,
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app := deployment(1, pool)
		nodes := env.Launch(ctx, 1, pool, app)

		before := env.Mark()
		env.RequireReboot(ctx, nodes...)
		env.Await(ctx, 1, rebooted(pool, before))
		once := env.Mark()
		env.Await(ctx, 1, rebooted(pool, once))
		patient, twice := env.Since(before), env.Mark()
		env.Await(ctx, 0, check.Nodes(pool).Old(before))
		env.Await(ctx, 1, check.RunningPods(app))

		env.Expect(patient, check.While(requiringReboot(env, pool), check.None(check.NodeClaims(pool).Deleting())))
		env.Expect(env.Since(twice), check.Always(check.None(rebooted(pool, twice))),
			check.LeadsTo(check.AtLeast(1, requiringReboot(env, pool)), check.None(requiringReboot(env, pool))))
	},
})
