package provisioning

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter chooses a node with room for all waiting pods that must share it. Another
// node gets no room for these pods, because they may not run there. A node that is too
// small can't be changed later, because the first pod already runs there. The spec
// creates the pool last, so that all pods are in one batch. Karpenter considers the
// larger pods first.
//
// Source: podAffinity of the Pod API; https://karpenter.sh/docs/concepts/scheduling,
// "Pod affinity/anti-affinity".
var _ = Suite.Add(e2e.Spec{
	Name: "chooses a node with room for all pods that must run on the same node",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().Require(rack, fixtures.In, "a", "b")
		leader := fixtures.Deployment(1).On(pool).CPU("1500m").Select(rack, "a")
		other := fixtures.Deployment(1).On(pool).CPU("1200m").Select(rack, "b")
		followers := fixtures.Deployment(2).On(pool).CPU("1").PodAffinity(leader, corev1.LabelHostname)

		before := env.Mark()
		env.Create(ctx, followers, other, leader)
		env.Await(ctx, 1, check.UnschedulablePods(leader))
		env.Await(ctx, 1, check.UnschedulablePods(other))
		env.Await(ctx, 2, check.UnschedulablePods(followers))
		env.Create(ctx, pool)
		env.Await(ctx, 1, check.RunningPods(other))
		env.Await(ctx, 2, check.RunningPods(followers))

		env.Expect(env.Since(before),
			check.Always(check.AtMost(2, check.NodeClaims(pool))),
			check.EndsWith(followers,
				check.Exactly(1, check.NodeClaims(pool).With("for three CPUs or more", check.RequestingCPUs("3")))))
	},
})
