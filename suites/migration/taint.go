package migration

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// When the old NodePool's template gets a taint that its pods do not tolerate, all of its
// nodes drift. The other NodePool launches the replacements that the pods need. No node
// is removed before a replacement is ready. The administrator only watches.
//
// Source: designs/v1beta1-api.md of Karpenter v0.32, "Periodic Rolling with Drift".
var _ = Suite.Add(e2e.Spec{
	Name:   "moves pods to another pool when a pool's template is tainted",
	Within: 3 * time.Minute,
	Run: func(ctx context.Context, env *e2e.Env) {
		app := workload()
		from, to := poolFor(app), poolFor(app)
		runOn(ctx, env, from, app)
		env.Create(ctx, to)

		before := env.Mark()
		env.Change(ctx, from.Taint(fixtures.Key("legacy"), fixtures.NoSchedule))
		env.Await(ctx, pods, check.RunningPods(app).On(check.ReadyNodes(to)))
		env.Await(ctx, 0, check.NodeClaims(from))

		drifted := check.AtLeast(1, check.DriftedNodeClaims(from))
		env.Expect(env.Since(before),
			check.LeadsTo(drifted, check.AllOf(allPodsOn(app, to), check.None(check.Nodes(from)))),
			check.While(check.Nodes(from).Deleting(), check.AtLeast(1, check.ReadyNodes(to))),
			check.Always(check.When(drifted, check.None(check.NodeClaims(from).New(before)))))
	},
})
