package drift

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A pool that refers to another NodeClass gets nodes of that NodeClass, even if the two
// say the same. Users move to new images or networks step by step this way. If these are
// bad, they go back with one change.
//
// Source: https://karpenter.sh/docs/concepts/disruption/#drift, "Static fields";
// spec.template.spec.nodeClassRef of the NodePool API.
var _ = Suite.Add(e2e.Spec{
	Name: "replaces nodes when their pool refers to another NodeClass",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app := fixtures.Deployment(1).On(pool)
		env.Create(ctx, pool, app)
		env.Await(ctx, 1, check.RunningPods(app))

		before := env.Mark()
		_, _, name := env.AnotherNodeClass(ctx)
		env.Change(ctx, pool.NodeClassCalled(name))
		env.Await(ctx, 1, check.RunningPods(app).On(check.ReplacedNodes(pool, before)))
		env.Await(ctx, 0, check.Nodes(pool).Old(before))

		env.Expect(env.Since(before), check.ActsOnDrift(pool),
			check.Always(check.Each(check.NodeClaims(pool).New(before), "refer to "+name, check.OfNodeClass(name))))
	},
})
