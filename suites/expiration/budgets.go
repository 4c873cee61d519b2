package expiration

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A budget that allows no disruption doesn't keep a node from expiring. Administrators
// rely on expiration, and budgets pace only disruptions that Karpenter chooses.
//
// Source: designs/forceful-expiration.md.
var _ = Suite.Add(e2e.Spec{
	Name: "is not held back by budgets",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().ExpireAfter(ttl.String()).Budget("0")
		app := fixtures.Deployment(2).On(pool).OnePodPerNode()
		env.Create(ctx, pool, app)
		env.Await(ctx, 2, check.RunningPods(app))

		before := env.Mark()
		env.Await(ctx, 0, check.Nodes(pool).Old(before))
		env.Await(ctx, 2, check.RunningPods(app))

		env.Expect(env.Since(before), expires(pool))
	},
})
