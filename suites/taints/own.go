package taints

import (
	"context"
	"fmt"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter keeps a taint that somebody else has put on a node. The taint stays while
// Karpenter adds its own taint, and after it removes its own. Users taint a node to take
// it out of service and inspect it, and agents add taints. They must not lose a taint
// because something else happens.
//
// Source: designs/no-schedule-taint.md; core/v1 NodeSpec.taints, of which each
// belongs to who put it there.
var _ = Suite.Add(e2e.Spec{
	Name: "that a user adds to a node stay when its disruption is given up",
	Run: func(ctx context.Context, env *e2e.Env) {
		mine := fixtures.Key("mine")
		pool := fixtures.NodePool()
		app := fixtures.Deployment(1).On(pool)
		env.Create(ctx, pool, app)
		node := env.Await(ctx, 1, check.InitializedNodes(pool))[0]
		env.Await(ctx, 1, check.RunningPods(app))

		before := env.Mark()
		env.Patch(ctx, node, fmt.Sprintf(`{"spec":{"taints":[{"key":%q,"effect":"NoSchedule"}]}}`, mine))
		env.Change(ctx, pool.StartupTaint(fixtures.Key("starting"), fixtures.NoSchedule))
		lost := env.Await(ctx, 1, check.NodeClaims(pool).In(karpenter.Registered).New(before))[0]
		env.Change(ctx, pool.Budget("0"))
		env.Delete(ctx, lost)
		disrupted := check.DisruptedNodes(pool).Old(before)
		env.Await(ctx, 0, disrupted)

		env.Expect(env.Since(before), check.LeadsTo(check.AtLeast(1, disrupted), check.None(disrupted)),
			check.Always(check.Each(disrupted, "have the other taint too", check.Tainted(mine))))
		env.Expect(env.Observe(ctx, karpenter.Settled),
			check.Always(check.Exactly(1, check.Nodes(pool).With("with the taint", check.Tainted(mine)).Old(before))))
	},
})
