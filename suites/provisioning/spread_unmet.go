package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Pods that must be spread over racks are spread, also if another spread that they only prefer can't
// be met. Karpenter gives up the preference, and not what is required. Charts often list both, and
// all pods in one rack go down with it.
//
// Source: topologySpreadConstraints, whenUnsatisfiable, of the Pod API; Karpenter:
// pkg/controllers/provisioning/scheduling/preferences.go, removeTopologySpreadScheduleAnyway.
var _ = Suite.Add(e2e.Spec{
	Name: "spreads pods as they must be although another spread that they prefer can't be met",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().Require(rack, fixtures.In, "a", "b")
		app := fixtures.Deployment(2).On(pool).OnePodPerNode().Spread(fixtures.TopologySpread(nowhere).ScheduleAnyway()).
			Spread(fixtures.TopologySpread(rack))

		before := env.Mark()
		env.Create(ctx, pool, app)
		env.Await(ctx, 2, check.RunningPods(app))

		env.Expect(env.Since(before), check.Always(check.AtMost(2, check.NodeClaims(pool))),
			check.Always(check.Each(check.NodeClaims(pool), "require one rack", check.RequiringOne(rack))),
			endsWith(app, check.Exactly(1, check.RunningPods(app).On(labeledNodes(pool, rack, "a")))),
			endsWith(app, check.Exactly(1, check.RunningPods(app).On(labeledNodes(pool, rack, "b")))))
	},
})
