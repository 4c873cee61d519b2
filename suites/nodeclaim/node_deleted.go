package nodeclaim

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// If a user deletes a node, Karpenter deletes its NodeClaim. The node stays until its
// instance is being terminated. Users remove machines with `kubectl delete node`. Nothing
// replaces a NodeClaim without a NodePool.
//
// Source: finalizer karpenter.sh/termination on nodes;
// https://karpenter.sh/docs/concepts/disruption, "Manual Methods"; Karpenter's
// regression suite, "should delete a NodeClaim from the node termination
// finalizer".
var _ = Suite.Add(e2e.Spec{
	Name: "ends with its instance when its node is deleted",
	Run: func(ctx context.Context, env *e2e.Env) {
		nodeClaim := fixtures.NodeClaim()
		nodes := newNodes(env, nodeClaim)
		env.Create(ctx, nodeClaim)
		env.Await(ctx, 1, check.The(nodeClaim).In(karpenter.Initialized))

		before := env.Mark()
		env.Delete(ctx, fixtures.Node(env.Await(ctx, 1, nodes)[0].Name))
		env.Await(ctx, 0, check.The(nodeClaim))

		env.Expect(env.Since(before),
			check.LeadsTo(check.AtLeast(1, nodes.Deleting()), check.AtLeast(1, check.The(nodeClaim).Deleting())),
			check.While(check.The(nodeClaim).Deleting(), check.AnyOf(
				check.Exactly(1, nodes), check.AtLeast(1, check.The(nodeClaim).In(karpenter.InstanceTerminating)))),
			check.LeadsTo(check.AtLeast(1, nodes.Deleting()), check.None(nodes)))
	},
})
