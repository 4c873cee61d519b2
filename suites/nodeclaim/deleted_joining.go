package nodeclaim

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// If a NodeClaim is deleted while its node joins, the provider terminates its instance,
// as for a registered node, and its condition InstanceTerminating says so. Karpenter deletes
// no node that it has not registered. An instance that nobody knows of costs money until
// somebody finds it.
//
// Source: pkg/controllers/nodeclaim/lifecycle/controller.go, finalize: "The Node should be
// garbage collected after the instance is terminated"; Delete of the CloudProvider interface.
var _ = Suite.Add(e2e.Spec{
	Name: "ends its instance when it is deleted before its node is registered",
	Run: func(ctx context.Context, env *e2e.Env) {
		nodeClaim := unregistrableNodeClaim(ctx, env)
		nodes := newNodes(env, nodeClaim)
		env.Create(ctx, nodeClaim)
		env.Await(ctx, 1, check.The(nodeClaim).In(karpenter.Launched))
		env.Await(ctx, 1, nodes)

		before := env.Mark()
		env.Delete(ctx, nodeClaim)
		env.Await(ctx, 0, check.The(nodeClaim))
		env.Observe(ctx, collected)

		deleting := check.AtLeast(1, check.The(nodeClaim).Deleting())
		env.ExpectUndisturbed(env.Since(before),
			check.LeadsTo(deleting, check.AtLeast(1, check.The(nodeClaim).In(karpenter.InstanceTerminating))))
		env.Expect(env.Since(before), check.LeadsTo(deleting, check.None(nodes)))
	},
})

// collected bounds how long the node of an ended instance stays. The cloud controller manager
// checks from time to time.
const collected = 30 * time.Second

// broken is a label of nodes that can't be registered.
const broken = fixtures.Domain + "/broken"

// unregistrableNodeClaim builds a NodeClaim whose node joins but is never registered.
func unregistrableNodeClaim(ctx context.Context, env *e2e.Env) *fixtures.LoneNodeClaim {
	policy, binding := fixtures.Unregistrable(broken)
	env.Enforce(ctx, policy, binding)
	return fixtures.NodeClaim().Label(broken, "true")
}
