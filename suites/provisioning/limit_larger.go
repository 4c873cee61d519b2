package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A pod gets no node that is larger than its pool's limit, although smaller ones would be within
// it. Otherwise one large pod costs more than all of the pool may. An event says that no node
// fits the pod, and it gets its node once the limit is raised.
//
// Source: spec.limits of the NodePool API.
var _ = Suite.Add(e2e.Spec{
	Name: "launches nothing for a pod whose node would be larger than the limit",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().Limit("cpu", "3")
		large := fixtures.Deployment(1).On(pool).CPU("3")

		before := env.Mark()
		env.Create(ctx, pool, large)
		env.AwaitAtLeast(ctx, 1, decisions(large, pool, before))
		limited := env.Since(before)
		env.Change(ctx, pool.Limit("cpu", "100"))
		env.Await(ctx, 1, check.RunningPods(large))

		env.Expect(limited, passedOver(pool, large))
	},
})
