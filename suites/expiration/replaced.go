package expiration

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter deletes a node that has reached its expireAfter, and its pods run again on
// another node. Regular replacement brings patches and new images to a cluster.
//
// Source: spec.template.spec.expireAfter of the NodePool API;
// designs/forceful-expiration.md.
var _ = Suite.Add(e2e.Spec{
	Name: "replaces a node and its pods run again",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().ExpireAfter(ttl.String())
		app := fixtures.Deployment(3).On(pool)
		env.Create(ctx, pool, app)
		env.Await(ctx, 3, check.RunningPods(app))

		before := env.Mark()
		env.Await(ctx, 3, check.RunningPods(app).On(check.ReplacedNodes(pool, before)))
		env.Await(ctx, 0, check.Nodes(pool).Old(before))

		env.Expect(env.Since(before), expires(pool), check.Never(check.AtLeast(1, check.DriftedNodeClaims(pool))))
	},
})
