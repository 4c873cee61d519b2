package provisioning

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A pod with alternatives could run on nodes of any of them, so pods count on all these nodes when
// it is spread. Here two pods run in one rack, on nodes of the second alternative. Two new ones get
// nodes of the first, in the other rack. The scheduler refuses a third in the crowded rack, and its
// node would stay empty.
//
// Source: nodeSelectorTerms, of which one must match, and nodeAffinityPolicy in
// topologySpreadConstraints, Honor by default, of the Pod API; Karpenter:
// pkg/controllers/provisioning/scheduling/topologynodefilter.go.
var _ = Suite.Add(e2e.Spec{
	Name: "spreads pods and counts those on nodes of all their alternatives",
	Run: func(ctx context.Context, env *e2e.Env) {
		here, there, group := fixtures.NodePool(), fixtures.NodePool(), fixtures.Key("group")
		others := fixtures.Deployment(2).On(there).Select(rack, "a").Label(group, here.GetName())
		app := fixtures.Deployment(2).OrRequire(karpenter.NodePoolLabel, fixtures.In, here.GetName()).
			OrRequire(karpenter.NodePoolLabel, fixtures.In, there.GetName()).OnePodPerNode().
			PodAntiAffinity(others, corev1.LabelHostname).Label(group, here.GetName()).
			Spread(fixtures.TopologySpread(rack).Of(group, here.GetName()))

		before := env.Mark()
		env.Create(ctx, here.Require(rack, fixtures.In, "a", "b"), there.Require(rack, fixtures.In, "a", "b"), others)
		env.Await(ctx, 2, check.RunningPods(others))
		env.Create(ctx, app)
		env.Await(ctx, 2, check.RunningPods(app))

		env.Expect(env.Since(before), check.Always(check.AtMost(2, check.NodeClaims(here))),
			check.EndsWith(app, check.Exactly(2, check.RunningPods(app).On(labeledNodes(here, rack, "b")))))
	},
})
