package expiration

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// A node that has reached the age of its expireAfter is deleted, and its pods
// run again on another one: regular replacement is how patches and new images
// reach a cluster.
//
// Source: spec.template.spec.expireAfter of the NodePool API;
// designs/forceful-expiration.md.
var _ = Suite.Add(e2e.Spec{
	Name:  "replaces a node and its pods run again",
	Needs: []providers.Capability{providers.NodePools},
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().ExpireAfter(ttl)
		app := fixtures.Deployment(3).On(pool)
		env.Create(ctx, pool, app)
		env.Await(ctx, 3, check.RunningPods(app))

		before, old := env.Now(), env.World()
		env.Await(ctx, 3, check.RunningPods(app).On(check.ReplacedNodes(pool, old)))
		env.Await(ctx, 0, check.Nodes(pool).Old(old))

		env.Expect(env.Since(before), expiring(pool), check.Never(check.AtLeast(1, check.DriftedClaims(pool))))
	},
})
