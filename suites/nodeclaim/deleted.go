package nodeclaim

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// When a NodeClaim is deleted, its node and its instance go too. The NodeClaim exists
// until both are gone. Its creator pays for the instance, and only this shows when the
// costs end.
//
// Source: finalizer karpenter.sh/termination and condition InstanceTerminating of
// the NodeClaim API; Karpenter's regression suite, "should remove the
// cloudProvider NodeClaim when the cluster NodeClaim is deleted".
var _ = Suite.Add(e2e.Spec{
	Name: "ends its instance and its node, and then itself, when it is deleted",
	Run: func(ctx context.Context, env *e2e.Env) {
		nodeClaim := fixtures.NodeClaim()
		nodes := newNodes(env, nodeClaim)
		env.Create(ctx, nodeClaim)
		env.Await(ctx, 1, check.The(nodeClaim).In(karpenter.Initialized))

		before := env.Mark()
		env.Delete(ctx, nodeClaim)
		env.Await(ctx, 0, nodes)
		env.Await(ctx, 0, check.The(nodeClaim))

		env.Expect(env.Since(before),
			check.LeadsTo(check.AtLeast(1, check.The(nodeClaim).Deleting()),
				check.AtLeast(1, check.The(nodeClaim).In(karpenter.InstanceTerminating))),
			check.While(nodes.Deleting(), check.Exactly(1, check.The(nodeClaim))))
	},
})
