package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Pods that must be spread over racks, and over sizes of nodes as well, are spread both ways, also if a
// third spread that they only prefer can't be met. Karpenter gives up the preference, and not
// what is required. Charts often list several, and all pods in one rack go down with it.
//
// Source: topologySpreadConstraints, whenUnsatisfiable, of the Pod API, all of which are met;
// Karpenter: pkg/controllers/provisioning/scheduling/preferences.go,
// removeTopologySpreadScheduleAnyway.
var _ = Suite.Add(e2e.Spec{
	Name: "spreads pods as they must be although another spread that they prefer can't be met",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().Require(rack, fixtures.In, "a", "b").Require(size, fixtures.In, "3", "5")
		app := fixtures.Deployment(2).On(pool).OnePodPerNode().Spread(fixtures.TopologySpread(nowhere).ScheduleAnyway()).
			Spread(fixtures.TopologySpread(rack)).Spread(fixtures.TopologySpread(size))

		before := env.Mark()
		env.Create(ctx, pool, app)
		env.Await(ctx, 2, check.RunningPods(app))

		env.Expect(env.Since(before), check.Always(check.AtMost(2, check.NodeClaims(pool))),
			check.Always(check.Each(check.NodeClaims(pool), "require one rack", check.RequiringOne(rack))),
			check.Always(check.Each(check.NodeClaims(pool), "require one size", check.RequiringOne(size))),
			check.EndsWith(app, check.Exactly(1, check.RunningPods(app).On(labeledNodes(pool, rack, "a")))),
			check.EndsWith(app, check.Exactly(1, check.RunningPods(app).On(labeledNodes(pool, rack, "b")))),
			check.EndsWith(app, check.Exactly(1, check.RunningPods(app).On(labeledNodes(pool, size, "3")))))
	},
})
