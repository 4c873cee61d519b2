package expiration

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A node keeps the expireAfter that it was launched with. A shorter expireAfter on the
// pool makes the node drift, as budgets allow. It doesn't delete the node at once. A
// typing error in expireAfter must not delete all nodes.
//
// Source: designs/forceful-expiration.md, "expireAfter" as a field of the
// NodeClaim; https://karpenter.sh/docs/concepts/disruption, "Expiration".
var _ = Suite.Add(e2e.Spec{
	Name: "keeps to the age that a node was launched with",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool, mortal := fixtures.NodePool().Budget("0", fixtures.Drifted), fixtures.NodePool().ExpireAfter(ttl.String())
		lasting, passing := fixtures.Deployment(1).On(pool), fixtures.Deployment(1).On(mortal)
		env.Create(ctx, pool, lasting)
		env.Await(ctx, 1, check.RunningPods(lasting))
		env.Change(ctx, pool.ExpireAfter(ttl.String()))
		env.Await(ctx, 1, check.DriftedNodeClaims(pool))
		env.Create(ctx, mortal, passing)
		env.Await(ctx, 1, check.RunningPods(passing))

		before := env.Mark()
		env.Await(ctx, 1, check.RunningPods(passing).On(check.ReplacedNodes(mortal, before)))
		env.Expect(env.Since(before), expires(mortal),
			check.HoldsDriftBack(pool))

		env.Change(ctx, pool.NoBudgets())
		env.Await(ctx, 1, check.RunningPods(lasting).On(check.ReplacedNodes(pool, before)))
	},
})
