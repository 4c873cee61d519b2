package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A pod that fits on no node gets a node with enough room. Users run Karpenter for this.
// A single node is enough, and a second costs money for nothing.
//
// Source: https://karpenter.sh/docs/concepts/scheduling, "Resource requests".
var _ = Suite.Add(e2e.Spec{
	Name: "gives a pending pod a node that fits",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app := fixtures.Deployment(1).On(pool).CPU("3").Memory("5Gi")

		before := env.Mark()
		env.Create(ctx, pool, app)
		env.Await(ctx, 1, check.RunningPods(app))

		env.Expect(env.Since(before),
			check.Always(check.AtMost(1, check.NodeClaims(pool))),
			check.Always(check.Each(check.ReadyNodes(pool), "have 3 CPUs for pods", check.Holding("cpu", "3"))),
			check.Always(check.Each(check.ReadyNodes(pool), "have 5Gi for pods", check.Holding("memory", "5Gi"))),
		)
	},
})
