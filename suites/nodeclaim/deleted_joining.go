package nodeclaim

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A NodeClaim that is deleted while its node joins takes its instance with it as a
// registered one does, though Karpenter deletes no node that it has not registered: it is
// the provider that ends the instance, and an instance that nobody knows of is paid for
// until somebody finds it.
//
// Source: pkg/controllers/nodeclaim/lifecycle/controller.go, finalize: "The Node should be
// garbage collected after the instance is terminated"; Delete of the CloudProvider interface.
var _ = Suite.Add(e2e.Spec{
	Name: "ends its instance when it is deleted before its node is registered",
	Run: func(ctx context.Context, env *e2e.Env) {
		nodeClaim := unregistrable(ctx, env)
		nodes := newNodes(env, nodeClaim)
		env.Create(ctx, nodeClaim)
		env.Await(ctx, 1, check.The(nodeClaim).In(karpenter.Launched))
		env.Await(ctx, 1, nodes)

		before := env.Mark()
		env.Delete(ctx, nodeClaim)
		env.Await(ctx, 0, check.The(nodeClaim))
		env.Observe(ctx, collected)

		env.Expect(env.Since(before), check.LeadsTo(check.AtLeast(1, check.The(nodeClaim).Deleting()), check.None(nodes)))
	},
})

// collected is how long the node of an instance that has ended may stay: who
// collects it, a cloud's controller manager, looks every so often.
const collected = 30 * time.Second

// broken is a label of nodes that can't be registered.
const broken = fixtures.Domain + "/broken"

// unregistrable builds a NodeClaim whose node joins and is never registered.
func unregistrable(ctx context.Context, env *e2e.Env) *fixtures.LoneNodeClaim {
	policy, binding := fixtures.Unregistrable(broken)
	env.Enforce(ctx, policy, binding)
	return fixtures.NodeClaim().Label(broken, "true")
}
