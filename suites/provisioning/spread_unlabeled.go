package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A node without the label over which pods are spread is in no domain, and the scheduler leaves it
// out. Control planes are in no rack, and many other nodes of a cluster. If Karpenter took them for
// an empty rack, each other rack would get one pod, and the rest would wait for ever.
//
// Source: https://kubernetes.io/docs/concepts/scheduling-eviction/topology-spread-constraints,
// "Conventions"; Karpenter: pkg/controllers/provisioning/scheduling/topology.go, countDomains.
var _ = Suite.Add(e2e.Spec{
	Name: "spreads pods over racks and leaves out nodes that are in no rack",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().Require(rack, fixtures.In, "a", "b")
		app := fixtures.Deployment(4).On(pool).OnePodPerNode().
			Spread(fixtures.TopologySpread(rack).NodeAffinityPolicy(fixtures.Ignore))
		env.Create(ctx, fixtures.UnmanagedNode())

		before := env.Mark()
		env.Create(ctx, pool, app)
		env.Await(ctx, 4, check.RunningPods(app))

		env.Expect(env.Since(before), check.Always(check.AtMost(4, check.NodeClaims(pool))),
			check.EndsWith(app, check.Exactly(2, check.RunningPods(app).On(labeledNodes(pool, rack, "a")))),
			check.EndsWith(app, check.Exactly(2, check.RunningPods(app).On(labeledNodes(pool, rack, "b")))))
	},
})
