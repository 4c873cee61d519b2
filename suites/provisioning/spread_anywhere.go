package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// If a constraint ignores which nodes its pods may use, all racks of the cluster count. A pod that
// may run in one alone is the only one there as long as another rack has none. Karpenter launches
// no node for the next, because the scheduler would refuse it.
//
// Source: topologySpreadConstraints, nodeAffinityPolicy, of the Pod API; Karpenter:
// pkg/controllers/provisioning/scheduling/topologygroup.go, domainMinCount.
var _ = Suite.Add(e2e.Spec{
	Name: "launches nothing for pods that may use one domain, if their constraint counts all",
	Known: []e2e.Known{{
		Releases: ">=1.0.0 <=1.15.0", // seen in v1.14.3 and v1.15.0
		Issue:    e2e.Finding("karpenter-domains-that-pods-cant-use"),
		Reason:   "domains that the pods' affinity excludes don't count, although the constraint says so",
		Breaks:   []string{"^always at most 1 NodeClaim", "launched nodes take pods that they were launched for"},
		Explored: "nodeAffinityPolicy: Ignore",
	}},
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().Require(rack, fixtures.In, "a", "b")
		other := fixtures.Deployment(1).On(pool).Select(rack, "b")
		app := fixtures.Deployment(3).On(pool).Select(rack, "a").OnePodPerNode().
			Spread(fixtures.TopologySpread(rack).NodeAffinityPolicy(fixtures.Ignore))
		env.Create(ctx, pool, other)
		env.Await(ctx, 1, check.RunningPods(other))

		before := env.Mark()
		env.Create(ctx, app)
		env.Await(ctx, 1, check.RunningPods(app))
		env.Observe(ctx, karpenter.PodsRetried)

		env.Expect(env.Since(before), check.Always(check.AtMost(1, check.NodeClaims(pool).New(before))),
			check.EndsWith(app, check.Exactly(1, check.RunningPods(app))))
	},
})
