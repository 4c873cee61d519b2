package expiration

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A node is deleted at the age that was set: not before, since work is planned
// by it, and not much later, since it bounds how old a node gets. Age counts
// from the creation of the NodeClaim.
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
