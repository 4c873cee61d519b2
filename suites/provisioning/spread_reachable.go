package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter spreads pods over the domains that they can reach. A domain doesn't count if
// only another pool has it and the pods' node selector excludes that pool. Otherwise, a
// team's new pool stops another team's scale-up.
//
// Source: topologySpreadConstraints, nodeAffinityPolicy (Honor by default), of the
// Pod API; https://github.com/kubernetes-sigs/karpenter/issues/2623, whose mending
// was taken back by https://github.com/kubernetes-sigs/karpenter/pull/2797.
var _ = Suite.Add(e2e.Spec{
	Name: "spreads pods over the domains that their affinity allows",
	Known: []e2e.Known{{
		Releases: ">=1.0.0 <=1.15.0", // seen in v1.0.8, v1.6.4, v1.9.0 and v1.15.0
		Issue:    "https://github.com/kubernetes-sigs/karpenter/issues/2623",
		Reason: "a domain of a pool that the pods don't select counts as an empty one, " +
			"so that all pods but one are refused",
		Breaks: []string{"^always no events FailedScheduling", "^in the end exactly 2 NodeClaims"},
	}},
	Run: func(ctx context.Context, env *e2e.Env) {
		here, elsewhere := fixtures.NodePool().Label(rack, "a"), fixtures.NodePool().Label(rack, "b")
		other := fixtures.Deployment(1).On(elsewhere)
		app := fixtures.Deployment(2).On(here).OnePodPerNode().Spread(fixtures.TopologySpread(rack))

		before := env.Mark()
		env.Create(ctx, here, elsewhere, other)
		env.Await(ctx, 1, check.RunningPods(other))
		env.Create(ctx, app)
		env.AwaitAtLeast(ctx, 1, check.RunningPods(app))
		env.Observe(ctx, karpenter.Settled)

		env.Expect(env.Since(before), check.Always(check.None(noFitEvents(app).AmongObjects(check.PodsOf(app)))),
			check.EndsWith(app, check.Exactly(2, check.NodeClaims(here))))
	},
})
