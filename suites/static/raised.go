package static

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A static pool adds as many nodes as its replicas are raised by. Existing nodes stay,
// because growth must not remove nodes.
//
// Source: designs/static-capacity.md, "Scale-Up Controller".
var _ = Suite.Add(e2e.Spec{
	Name: "adds nodes when its replicas are raised",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().Replicas(1)
		env.Create(ctx, pool)
		env.Await(ctx, 1, check.InitializedNodeClaims(pool))

		before := env.Mark()
		env.Change(ctx, pool.Replicas(3))
		env.Await(ctx, 3, check.InitializedNodeClaims(pool))
		env.Observe(ctx, karpenter.Settled)

		replicas := check.AtMost(3, check.NodeClaims(pool))
		env.Expect(env.Since(before), check.Always(replicas), replicas.Reached(),
			check.Always(check.Exactly(1, check.InitializedNodes(pool).Old(before))))
		removeNodes(ctx, env, pool)
	},
})
