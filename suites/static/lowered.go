package static

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A static pool removes as many nodes as its replicas are lowered by, and replaces none.
// Budgets don't apply, because the user asks for this.
//
// Source: designs/static-capacity.md, "Disruption": scaling replicas doesn't
// respect disruption budgets.
var _ = Suite.Add(e2e.Spec{
	Name: "removes nodes when its replicas are lowered, whatever budgets say",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().Replicas(3).Budget("0")
		env.Create(ctx, pool)
		env.Await(ctx, 3, check.InitializedNodeClaims(pool))

		before := env.Mark()
		env.Change(ctx, pool.Replicas(1))
		env.Await(ctx, 1, check.NodeClaims(pool))
		env.Await(ctx, 1, check.Nodes(pool))
		env.Observe(ctx, karpenter.Settled)

		replicas := check.AtLeast(1, check.NodeClaims(pool).Staying())
		env.Expect(env.Since(before), check.Always(replicas), replicas.Reached(),
			check.Always(check.None(check.NodeClaims(pool).New(before))))
		removeNodes(ctx, env, pool)
	},
})
