package provisioning

import (
	"context"
	"fmt"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter counts the racks of nodes that aren't its own as the scheduler does, also if no pod of
// the kind runs there. The rack of a machine that takes no pods, as on control planes, is an
// empty one. So the scheduler lets one pod into each other rack, and a node for any further pod
// would stay empty, also when Karpenter looks again and the racks have nodes of its own.
//
// Source: topologySpreadConstraints, nodeAffinityPolicy and nodeTaintsPolicy, of the Pod API;
// Karpenter: pkg/controllers/provisioning/scheduling/topology.go, countDomains.
var _ = Suite.Add(e2e.Spec{
	Name: "spreads pods and counts the racks of nodes that are not its own",
	Run: func(ctx context.Context, env *e2e.Env) {
		machine := fixtures.UnmanagedNode()
		pool := fixtures.NodePool().Require(rack, fixtures.In, "a", "b", "d", "e")
		app := fixtures.Deployment(6).On(pool).OnePodPerNode().
			Spread(fixtures.TopologySpread(rack).NodeAffinityPolicy(fixtures.Ignore))
		env.Create(ctx, machine)
		env.Patch(ctx, machine, fmt.Sprintf(`{"metadata":{"labels":{%q:"c"}}}`, rack))

		before := env.Mark()
		env.Create(ctx, pool, app)
		env.Await(ctx, 4, check.RunningPods(app))
		env.AwaitAtLeast(ctx, 2, noFitEvents(app))
		env.Observe(ctx, karpenter.PodsRetried)

		env.Expect(env.Since(before), check.Always(check.AtMost(4, check.NodeClaims(pool))),
			check.EndsWith(app, check.Balanced(0, check.NodeClaims(pool), rack)))
	},
})
