package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// If several pools could serve a pod, the pool with the most weight does, whatever its
// name or age. Users rely on it to use reserved capacity before they buy more. Halfway
// the other pool gets more weight, so that luck can't pass twice.
//
// Source: spec.weight of the NodePool API.
var _ = Suite.Add(e2e.Spec{
	Name: "prefers the pool with more weight",
	Run: func(ctx context.Context, env *e2e.Env) {
		group := fixtures.Key("group")
		one, other := fixtures.NodePool().Weight(50), fixtures.NodePool().Weight(10)
		one.Label(group, one.GetName())
		other.Label(group, one.GetName())
		app := fixtures.Deployment(1).Select(group, one.GetName()).OnePodPerNode()

		before := env.Mark()
		env.Create(ctx, one, other, app)
		env.Await(ctx, 1, check.RunningPods(app))
		first := env.Since(before)
		env.Change(ctx, other.Weight(90), app.Replicas(2))
		env.Await(ctx, 2, check.RunningPods(app))

		env.Expect(first, passedOver(other, app))
		env.Expect(env.Since(before),
			check.Always(check.AtMost(1, check.NodeClaims(one))),
			check.Always(check.AtMost(1, check.NodeClaims(other))),
		)
	},
})
