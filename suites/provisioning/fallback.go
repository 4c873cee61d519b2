package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// When the preferred NodePool is at its limit, pods use the next pool. They don't wait,
// because weight is a preference.
//
// Source: spec.weight and spec.limits of the NodePool API.
var _ = Suite.Add(e2e.Spec{
	Name: "falls back to a lighter pool when the preferred one is full",
	Run: func(ctx context.Context, env *e2e.Env) {
		group := fixtures.Key("group")
		preferred, spare := fixtures.NodePool().Weight(90), fixtures.NodePool().Weight(10)
		preferred.Label(group, preferred.GetName())
		spare.Label(group, preferred.GetName())
		app := fixtures.Deployment(1).Select(group, preferred.GetName()).OnePodPerNode()

		before := env.Mark()
		env.Create(ctx, preferred, spare, app)
		env.Await(ctx, 1, check.RunningPods(app))
		first := env.Since(before)
		env.Change(ctx, preferred.Limit("cpu", "1"), app.Replicas(2))
		env.Await(ctx, 2, check.RunningPods(app))

		env.Expect(first, passedOver(spare, app))
		env.Expect(env.Since(before),
			check.Always(check.AtMost(1, check.NodeClaims(preferred))),
			check.Always(check.AtMost(1, check.NodeClaims(spare))),
		)
	},
})
