package provisioning

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter spreads the pods of each revision on their own if the constraint says so,
// also when pods of several revisions wait together. Here two Deployments have the same
// constraint. The pods of one need two nodes, and those of the other three. Counted as
// one, some would have to wait for another node.
//
// Source: topologySpreadConstraints, matchLabelKeys, of the Pod API;
// https://github.com/kubernetes-sigs/karpenter/pull/2479.
var _ = Suite.Add(e2e.Spec{
	Name: "spreads the pods of each revision on their own",
	Known: []e2e.Known{{
		Releases: ">=1.0.0 <1.9.0", // seen in v1.6.4
		Issue:    "https://github.com/kubernetes-sigs/karpenter/pull/2479",
		Reason:   "constraints that differ only in the revision count as one",
		Breaks:   []string{"^always exactly 3 NodeClaims"},
	}},
	Since: e2e.Since{Kubernetes: "1.34"}, // which adds a requirement for the keys to each pod
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		apart := fixtures.TopologySpread(corev1.LabelHostname).MinDomains(3).Of(team, "red").
			ByLabel(appsv1.DefaultDeploymentUniqueLabelKey)
		large := fixtures.Deployment(2).On(pool).CPU("3").Label(team, "red").Spread(apart)
		small := fixtures.Deployment(3).On(pool).Label(team, "red").Spread(apart)
		env.Create(ctx, large, small)
		env.Await(ctx, 2, check.UnschedulablePods(large))
		env.Await(ctx, 3, check.UnschedulablePods(small))

		before := env.Mark()
		env.Create(ctx, pool)
		env.Await(ctx, 2, check.RunningPods(large))
		env.Await(ctx, 3, check.RunningPods(small))

		first := check.AtLeast(1, check.ReadyNodes(pool))
		env.Expect(env.Since(before), check.Always(check.When(first, check.Exactly(3, check.NodeClaims(pool)))))
	},
})
