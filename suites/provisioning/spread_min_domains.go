package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// If pods need at least three domains and two exist, Karpenter launches a node in each of
// the two. It launches no more until a third exists. Three zones give users a quorum, and
// two do not. The third domain may come at any time.
//
// Source: topologySpreadConstraints, minDomains, of the Pod API;
// https://karpenter.sh/docs/concepts/scheduling, "Topology Spread".
var _ = Suite.Add(e2e.Spec{
	Name: "launches nothing for pods that must be spread over more domains than exist",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().Require(rack, fixtures.In, "a", "b")
		app := fixtures.Deployment(4).On(pool).OnePodPerNode().Spread(fixtures.TopologySpread(rack).MinDomains(3))

		before := env.Mark()
		env.Create(ctx, pool, app)
		env.Await(ctx, 2, check.RunningPods(app))
		env.AwaitAtLeast(ctx, 2, noFitEvents(app))
		narrow := env.Since(before)
		env.Change(ctx, pool.Require(rack, fixtures.In, "a", "b", "c"))
		env.Await(ctx, 4, check.RunningPods(app))

		env.Expect(narrow, check.Always(check.AtMost(2, check.NodeClaims(pool))),
			check.Finally(check.Balanced(0, check.NodeClaims(pool), rack)))
		env.Expect(env.Since(before), check.Always(check.AtMost(4, check.NodeClaims(pool))),
			check.Finally(check.When(check.AtLeast(3, check.NodeClaims(pool)), check.Balanced(1, check.NodeClaims(pool), rack))))
	},
})
