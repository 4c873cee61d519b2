package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A DaemonSet that runs on some instance types only takes no choice away. A pod that fits on a type
// with its pods, and on one without, gets a NodeClaim that allows both. With fewer types to choose
// from, a launch fails sooner when one is sold out.
//
// Source: https://karpenter.sh/docs/concepts/nodepools, on flexible instance types; Karpenter:
// pkg/controllers/provisioning/scheduling/nodeclaim.go, filterInstanceTypesByRequirements.
var _ = Suite.Add(e2e.Spec{
	Name: "allows instance types with a daemon and without for a pod that fits on either",
	Run: func(ctx context.Context, env *e2e.Env) {
		first := fixtures.NodePool()
		env.Create(ctx, first, fixtures.Pod().On(first))
		usual := karpenter.InstanceType(env.Await(ctx, 1, check.ReadyNodes(first))[0].Unstructured())
		known := env.Mark()
		env.Create(ctx, fixtures.Pod().On(first).Require(instanceType, fixtures.NotIn, usual))
		other := karpenter.InstanceType(env.Await(ctx, 1, check.ReadyNodes(first).New(known))[0].Unstructured())
		pool := fixtures.NodePool().Require(instanceType, fixtures.In, usual, other)
		daemon := fixtures.DaemonSet().On(pool).Require(instanceType, fixtures.In, usual)
		app := fixtures.Deployment(1).On(pool)

		before := env.Mark()
		env.Create(ctx, pool, daemon)
		env.Create(ctx, app)
		env.Await(ctx, 1, check.RunningPods(app))

		env.Expect(env.Since(before), check.Always(check.AtMost(1, check.NodeClaims(pool))),
			check.Always(check.Each(check.NodeClaims(pool), "allow both types", check.Requiring(instanceType, usual, other))))
	},
})
