package expiration

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter deletes a node at the set age, not earlier and not much later. Users plan
// work by this age, and it bounds how old a node gets. Age counts from the creation of
// the NodeClaim.
//
// Source: spec.expireAfter of the NodeClaim API.
var _ = Suite.Add(e2e.Spec{
	Name: "comes at the age that was set",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().ExpireAfter(ttl.String())
		app := fixtures.Deployment(1).On(pool)
		before := env.Mark()
		env.Create(ctx, pool, app)
		env.Await(ctx, 1, check.RunningPods(app))

		old := env.Mark()
		env.Await(ctx, 0, check.NodeClaims(pool).Old(old))

		env.Expect(env.Since(before), check.Always(check.Each(
			check.NodeClaims(pool).Deleting(), "are as old as expireAfter says", check.DeletedAt(ttl, tolerated))))
	},
})
