package provisioning

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Pods that must share a node with another one, and wait together with it, are
// counted when that node is chosen: it has room for all of them, and the node beside
// it, where they may not run, for none. A node too small for them can't be mended:
// its pod runs there already. They all wait for a pool, so that they are one batch,
// of which the larger pods are looked at first.
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
		env.Await(ctx, 1, waiting(leader))
		env.Await(ctx, 1, waiting(other))
		env.Await(ctx, 2, waiting(followers))
		env.Create(ctx, pool)
		env.Await(ctx, 1, check.RunningPods(other))
		env.Await(ctx, 2, check.RunningPods(followers))

		env.Expect(env.Since(before),
			check.Always(check.AtMost(2, check.NodeClaims(pool))),
			endsWith(followers, check.Exactly(1, check.NodeClaims(pool).With("for three CPUs or more", requesting("3")))))
	},
})
