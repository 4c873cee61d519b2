package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A pool may allow a single instance type, such as one that is reserved. Its nodes are of that type.
//
// Source: spec.template.spec.requirements of the NodePool API; https://karpenter.sh/docs/concepts/nodepools.
var _ = Suite.Add(e2e.Spec{
	Name: "launches nodes of the only type that a pool allows",
	Run: func(ctx context.Context, env *e2e.Env) {
		first := fixtures.NodePool()
		env.Create(ctx, first, fixtures.Deployment(1).On(first))
		only := karpenter.Label(env.Await(ctx, 1, check.ReadyNodes(first))[0].Unstructured(), instanceType)
		pool := fixtures.NodePool().Require(instanceType, fixtures.In, only)
		app := fixtures.Deployment(2).On(pool).OnePodPerNode()

		before := env.Mark()
		env.Create(ctx, pool, app)
		env.Await(ctx, 2, check.RunningPods(app))

		env.Expect(env.Since(before), check.Always(check.AtMost(2, check.NodeClaims(pool))),
			check.Always(check.Each(check.NodeClaims(pool), "require the type "+only,
				check.Requiring(instanceType, only))),
			check.EndsWith(app, check.Exactly(2, check.RunningPods(app).On(labeledNodes(pool, instanceType, only)))))
	},
})
