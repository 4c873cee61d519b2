package provisioning

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Pods that need three racks get nothing more once both racks that exist have a pod that counts.
// That other pods, which the same constraint selects, are content with two changes nothing. So they
// get a node each, and the one that needs three none.
//
// Source: topologySpreadConstraints, minDomains, of the Pod API; Karpenter:
// pkg/controllers/provisioning/scheduling/topologygroup.go, Hash.
var _ = Suite.Add(e2e.Spec{
	Name: "launches nothing for a pod that needs more domains, beside pods that need fewer",
	Known: []e2e.Known{{
		Releases: ">=1.0.0 <=1.15.0", // seen in v1.14.3 and v1.15.0
		Issue:    e2e.Finding("karpenter-constraints-that-count-as-one"),
		Reason:   "constraints that differ only in minDomains count as one",
		Breaks: []string{
			"^always at most 6 NodeClaims", "^waited for 6 pods", "launched nodes take pods that they were launched for",
		},
		Sometimes: true, // the constraint of the pod that is looked at first counts
	}},
	Run: func(ctx context.Context, env *e2e.Env) {
		group, first, pool := fixtures.Key("group"), fixtures.NodePool(), fixtures.NodePool()
		name := first.GetName()
		each := fixtures.TopologySpread(rack).Of(group, name)
		there := fixtures.Deployment(2).Select(group, name).Label(group, name).OnePodPerNode().Spread(each)
		env.Create(ctx, first.Label(group, name).Require(rack, fixtures.In, "a", "b").Limit("nodes", "2"), there)
		env.Await(ctx, 2, check.RunningPods(there)) // one in each rack
		many := fixtures.Deployment(6).Select(group, name).Label(group, name).OnePodPerNode().
			PodAntiAffinity(there, corev1.LabelHostname).Spread(each)
		quorum := fixtures.Deployment(1).Select(group, name).Label(group, name).
			PodAntiAffinity(there, corev1.LabelHostname).PodAntiAffinity(many, corev1.LabelHostname).
			Spread(fixtures.TopologySpread(rack).Of(group, name).MinDomains(3))
		env.Create(ctx, many, quorum)
		env.Await(ctx, 6, check.UnschedulablePods(many))
		env.Await(ctx, 1, check.UnschedulablePods(quorum))

		before := env.Mark()
		env.Create(ctx, pool.Label(group, name).Require(rack, fixtures.In, "a", "b"))
		env.Await(ctx, 6, check.RunningPods(many))
		env.Observe(ctx, karpenter.PodsRetried)

		env.Expect(env.Since(before), check.Always(check.AtMost(6, check.NodeClaims(pool))),
			check.EndsWith(quorum, check.None(check.RunningPods(quorum))))
	},
})
