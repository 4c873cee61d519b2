package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A rack that a pool excludes is none that pods could be spread over. No node is ever in it, so
// that the scheduler doesn't count it. If Karpenter does, each other rack gets one pod, and the
// rest waits for ever.
//
// Source: topologySpreadConstraints of the Pod API; spec.template.spec.requirements of the NodePool
// API, NotIn; Karpenter: pkg/controllers/provisioning/scheduling/topology.go, buildDomainGroups.
var _ = Suite.Add(e2e.Spec{
	Name: "spreads pods over racks other than one that a pool excludes",
	Known: []e2e.Known{{
		Releases: ">=1.0.0 <=1.15.0", // seen in v1.14.3 and v1.15.0
		Issue:    e2e.Finding("karpenter-excluded-values-are-domains"),
		Reason:   "a value that a pool excludes counts as an empty domain",
		Breaks:   []string{"^always no events FailedScheduling", "^in the end exactly 4 pods"},
	}},
	Run: func(ctx context.Context, env *e2e.Env) {
		group := fixtures.Key("group")
		pool, other := fixtures.NodePool(), fixtures.NodePool().Require(rack, fixtures.NotIn, "c")
		app := fixtures.Deployment(4).Select(group, pool.GetName()).OnePodPerNode().Spread(fixtures.TopologySpread(rack))

		before := env.Mark()
		env.Create(ctx, pool.Label(group, pool.GetName()).Require(rack, fixtures.In, "a", "b").Weight(90),
			other.Label(group, pool.GetName()))
		env.Create(ctx, app)
		env.AwaitAtLeast(ctx, 2, check.RunningPods(app))
		env.Observe(ctx, karpenter.Settled)

		env.Expect(env.Since(before), check.Always(check.None(noFitEvents(app).AmongObjects(check.PodsOf(app)))),
			check.EndsWith(app, check.Exactly(4, check.RunningPods(app))))
	},
})
