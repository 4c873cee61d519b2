package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter packs no pods on one node if that leaves fewer values than minValues to choose from.
// Each of the pods gets a node of its own instead, which may become any of the types. Here two
// pods fit on two types each, and together on the larger one only.
//
// Source: designs/nodepool-requirement-flexibility.md: the scheduler stops to pack pods on a NodeClaim,
// and makes another one; minValues in spec.template.spec.requirements of the NodePool API; setting
// min-values-policy, whose default is Strict.
var _ = Suite.Add(e2e.Spec{
	Name: "packs no pods on one node if that leaves fewer values than minValues to choose from",
	Run: func(ctx context.Context, env *e2e.Env) {
		sizes, pool := fixtures.NodePool(), fixtures.NodePool().MinValues(instanceType, 2)
		env.Create(ctx, sizes, fixtures.Pod().On(sizes).CPU("500m"))
		small := env.Await(ctx, 1, check.ReadyNodes(sizes))[0].Unstructured()
		first := env.Mark()
		env.Create(ctx, fixtures.Pod().On(sizes).CPU(cpus(small, small)))
		large := env.Await(ctx, 1, check.ReadyNodes(sizes).New(first))[0].Unstructured()
		types := []string{karpenter.InstanceType(small), karpenter.InstanceType(large)}
		app := fixtures.Deployment(2).On(pool).CPU(fixtures.MostCPUs(small, "0")).
			Require(instanceType, fixtures.In, types...)
		env.Create(ctx, app)
		env.Await(ctx, 2, check.UnschedulablePods(app))

		before := env.Mark()
		env.Create(ctx, pool)
		env.Await(ctx, 2, check.RunningPods(app))

		env.Expect(env.Since(before), check.Always(check.AtMost(2, check.NodeClaims(pool))),
			check.Always(check.Each(check.NodeClaims(pool), "allow both types", check.Requiring(instanceType, types...))))
	},
})
