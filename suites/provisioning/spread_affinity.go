package provisioning

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Pods on nodes that new pods' required affinity excludes don't count when new pods are spread, as
// those that a node selector excludes. Here two pods run in one rack, on nodes of a pool that
// the new ones must not use. So one of the new ones goes to each rack.
//
// Source: nodeAffinityPolicy in topologySpreadConstraints of the Pod API, Honor by default;
// Karpenter: pkg/controllers/provisioning/scheduling/topologynodefilter.go.
var _ = Suite.Add(e2e.Spec{
	Name: "spreads pods and ignores those on nodes that only their affinity excludes",
	Run: func(ctx context.Context, env *e2e.Env) {
		here, there, group := fixtures.NodePool(), fixtures.NodePool(), fixtures.Key("group")
		others := fixtures.Deployment(2).On(there).Select(rack, "a").Label(group, here.GetName())
		app := fixtures.Deployment(2).Require(karpenter.NodePoolLabel, fixtures.In, here.GetName()).
			Require(rack, fixtures.In, "a", "b").OnePodPerNode().PodAntiAffinity(others, corev1.LabelHostname).
			Label(group, here.GetName()).Spread(fixtures.TopologySpread(rack).Of(group, here.GetName()))

		before := env.Mark()
		env.Create(ctx, here.Require(rack, fixtures.In, "a", "b"), there.Require(rack, fixtures.In, "a", "b"), others)
		env.Await(ctx, 2, check.RunningPods(others))
		env.Create(ctx, app)
		env.Await(ctx, 2, check.RunningPods(app))

		env.Expect(env.Since(before), check.Always(check.AtMost(2, check.NodeClaims(here))),
			check.EndsWith(app, check.Exactly(1, check.RunningPods(app).On(labeledNodes(here, rack, "a")))),
			check.EndsWith(app, check.Exactly(1, check.RunningPods(app).On(labeledNodes(here, rack, "b")))))
	},
})
