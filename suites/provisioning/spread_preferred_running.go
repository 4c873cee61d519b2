package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Pods that must be spread over racks, and would rather be in one of them, are spread although a node
// with room for all runs in that rack. What they prefer doesn't narrow down the racks that the
// spread counts. Otherwise Karpenter means a pod for that node, where the scheduler refuses it.
// Here the other rack has a node too, whose taint keeps the pods off.
//
// Source: topologySpreadConstraints and
// preferredDuringSchedulingIgnoredDuringExecution of the Pod API.
var _ = Suite.Add(e2e.Spec{
	Name: "spreads pods although a node with room runs in the one rack that they prefer",
	Run: func(ctx context.Context, env *e2e.Env) {
		dedicated, group := fixtures.Key("dedicated"), fixtures.Key("group")
		pool, fenced := rivalPools()
		other := fixtures.Deployment(1).On(pool).Select(rack, "a")
		owner := fixtures.Deployment(1).On(fenced).Tolerate(dedicated)
		app := fixtures.Deployment(2).Select(group, pool.GetName()).CPU("10m").Prefer(1, rack, fixtures.In, "a").
			Spread(fixtures.TopologySpread(rack))

		before := env.Mark()
		env.Create(ctx, pool.Require(rack, fixtures.In, "a", "b"), other)
		env.Create(ctx, fenced.Label(rack, "b").Taint(dedicated, fixtures.NoSchedule), owner)
		env.Await(ctx, 1, check.RunningPods(other))
		env.Await(ctx, 1, check.RunningPods(owner))
		env.Create(ctx, app)
		env.Await(ctx, 2, check.RunningPods(app))

		env.Expect(env.Since(before), check.Always(check.AtMost(2, check.NodeClaims(pool))),
			check.EndsWith(app, check.Exactly(1, check.RunningPods(app).On(labeledNodes(pool, rack, "a")))),
			check.EndsWith(app, check.Exactly(1, check.RunningPods(app).On(labeledNodes(pool, rack, "b")))))
	},
})
