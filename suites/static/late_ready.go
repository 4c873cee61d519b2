package static

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A static pool launches its nodes once its NodeClass exists. Users create pools before
// NodeClasses, and mend a mistyped name. Nobody looks at the pool again, since it serves
// no pods that wait.
//
// Source: designs/static-capacity.md; condition Ready of the NodePool API;
// https://github.com/kubernetes-sigs/karpenter/pull/2956.
var _ = Suite.Add(e2e.Spec{
	Name: "launches its nodes once its NodeClass exists",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().Replicas(1).NodeClassCalled("nowhere")
		env.Create(ctx, pool)
		env.Observe(ctx, karpenter.Settled)

		before := env.Mark()
		env.Change(ctx, pool.OwnNodeClass())
		env.Await(ctx, 1, check.InitializedNodeClaims(pool))

		env.Expect(env.Since(before), check.Always(check.AtMost(1, check.NodeClaims(pool))),
			check.Within(karpenter.Settled, check.LeadsTo(
				check.AtLeast(1, check.The(pool).In(karpenter.Ready)), check.AtLeast(1, check.NodeClaims(pool)))))
		removeNodes(ctx, env, pool)
	},
})
