package overlay

import (
	"context"
	"fmt"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// With a NodeOverlay of capacity, a pod that requests a device gets a node. Without it,
// no instance type has a device, and no node is launched. The provider cannot know what a
// device plugin finds on a node. The spec acts as the plugin.
//
// Source: spec.capacity of the NodeOverlay API; designs/node-overlay.md.
var _ = Suite.Add(e2e.Spec{
	Name: "of capacity gives a node to pods that request its extended resource",
	Run: func(ctx context.Context, env *e2e.Env) {
		device, pool := fixtures.Key("device"), fixtures.NodePool()
		app := fixtures.Deployment(1).Extended(device, "1").On(pool)
		overlay := fixtures.NodeOverlay().On(pool).Capacity(device, "1")

		before := env.Mark()
		env.Create(ctx, pool, app)
		env.AwaitAtLeast(ctx, 1, check.Reports(karpenter.ReasonFailedScheduling, app))
		env.Create(ctx, overlay)
		plugIn(ctx, env, device, env.Await(ctx, 1, check.RegisteredNodes(pool))[0])
		env.Await(ctx, 1, check.RunningPods(app))

		env.Expect(env.Since(before),
			check.While(check.PodsOf(app), check.When(check.None(check.The(overlay)), check.None(check.NodeClaims(pool)))),
			check.LeadsTo(check.AtLeast(1, check.The(overlay)), check.Exactly(1, check.RunningPods(app))))
	},
})

// plugIn gives a node a device, as a device plugin does.
func plugIn(ctx context.Context, env *e2e.Env, device string, node *history.Object) {
	env.PatchStatus(ctx, node, fmt.Sprintf(`{"status":{"capacity":{%q:"1"},"allocatable":{%q:"1"}}}`, device, device))
}
