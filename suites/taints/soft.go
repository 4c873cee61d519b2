package taints

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A taint with the effect PreferNoSchedule sends pods to another pool, even to a pool of
// lower weight. It lets them in if there is no other pool, whatever its key and its value.
// It reserves a pool but leaves no pods behind.
//
// Source: spec.template.spec.taints of the NodePool API; Karpenter:
// pkg/controllers/provisioning/scheduling/preferences.go.
var _ = Suite.Add(e2e.Spec{
	Name: "with the effect PreferNoSchedule keep pods off that fit elsewhere",
	Run: func(ctx context.Context, env *e2e.Env) {
		team := fixtures.Key("team")
		soft := fixtures.NodePool().Label(team, "red").Weight(50).
			TaintValue(fixtures.Key("reserved"), "batch", fixtures.PreferNoSchedule)
		open := fixtures.NodePool().Label(team, "red")
		free := fixtures.Deployment(2).Select(team, "red")
		bound := fixtures.Deployment(1).Select(team, "red").On(soft)

		before := env.Mark()
		env.Create(ctx, soft, open, free)
		env.Await(ctx, 2, check.RunningPods(free))
		spared := env.Since(before)
		env.Create(ctx, bound)
		env.Await(ctx, 1, check.RunningPods(bound).On(check.Nodes(soft)))

		env.Expect(spared,
			check.LeadsTo(check.AtLeast(1, check.PodsOf(free)), check.Exactly(2, check.RunningPods(free).On(check.Nodes(open)))),
			check.While(check.PodsOf(free), check.None(check.NodeClaims(soft))))
		env.Expect(env.Since(before), check.LeadsTo(check.AtLeast(1, check.PodsOf(bound)),
			check.AtLeast(1,
				check.RunningPods(bound).On(check.Nodes(soft).With("with the taint",
					check.TaintedWithValue(fixtures.Key("reserved"), "batch", fixtures.PreferNoSchedule))))))
	},
})
