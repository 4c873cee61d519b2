package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Pods that would rather be in one rack, but must be spread over racks, are spread. What they
// prefer doesn't narrow down the racks that the spread counts. Otherwise all of them end in the
// rack that they prefer, and go down with it.
//
// Source: topologySpreadConstraints and
// preferredDuringSchedulingIgnoredDuringExecution of the Pod API.
var _ = Suite.Add(e2e.Spec{
	Name: "spreads pods although they prefer one rack",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().Require(rack, fixtures.In, "a", "b")
		app := fixtures.Deployment(2).On(pool).OnePodPerNode().Prefer(1, rack, fixtures.In, "a").
			Spread(fixtures.TopologySpread(rack))

		before := env.Mark()
		env.Create(ctx, pool, app)
		env.Await(ctx, 2, check.RunningPods(app))

		env.Expect(env.Since(before), check.Always(check.AtMost(2, check.NodeClaims(pool))),
			check.EndsWith(app, check.Exactly(1, check.RunningPods(app).On(labeledNodes(pool, rack, "a")))),
			check.EndsWith(app, check.Exactly(1, check.RunningPods(app).On(labeledNodes(pool, rack, "b")))))
	},
})
