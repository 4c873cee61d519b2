package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter removes a node if its pods are deleted during its launch. Users don't delete
// a node if they don't know why it came.
//
// Source: spec.disruption.consolidateAfter of the NodePool API;
// https://karpenter.sh/docs/concepts/disruption, "Consolidation", on empty nodes.
var _ = Suite.Add(e2e.Spec{
	Name: "removes a node whose pods were deleted while it was launched",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().ConsolidateAfter("0s")
		app := fixtures.Deployment(1).On(pool)

		before := env.Mark()
		env.Create(ctx, pool, app)
		env.Await(ctx, 1, check.NodeClaims(pool))
		env.Delete(ctx, app)
		env.Await(ctx, 0, check.NodeClaims(pool))
		env.Await(ctx, 0, check.Nodes(pool))

		forNobody := check.AllOf(check.AtLeast(1, check.NodeClaims(pool)), check.None(check.PodsOf(app)))
		env.Expect(env.Since(before),
			check.LeadsTo(forNobody, check.None(check.NodeClaims(pool))),
			check.LeadsTo(forNobody, check.None(check.Nodes(pool))),
			check.Always(check.AtMost(1, check.NodeClaims(pool))))
	},
})
