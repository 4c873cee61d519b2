package overlay

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A NodeOverlay takes effect although another NodePool's NodeClass doesn't exist. One
// team's mistake must not stop the nodes of all other teams, who can't even see it.
//
// Source: designs/node-overlay.md;
// https://github.com/kubernetes-sigs/karpenter/issues/3002.
var _ = Suite.Add(e2e.Spec{
	Name: "takes effect beside a NodePool whose NodeClass doesn't exist",
	Run: func(ctx context.Context, env *e2e.Env) {
		device, pool := fixtures.Key("device"), fixtures.NodePool()
		app := fixtures.Deployment(1).Extended(device, "1").On(pool)
		env.Create(ctx, fixtures.NodePool().NodeClassCalled("nowhere"), pool)

		before := env.Mark()
		env.Create(ctx, fixtures.NodeOverlay().Capacity(device, "1"), app)
		plugIn(ctx, env, device, env.Await(ctx, 1, check.RegisteredNodes(pool))[0])
		env.Await(ctx, 1, check.RunningPods(app))

		env.Expect(env.Since(before),
			check.LeadsTo(check.AtLeast(1, check.PodsOf(app)), check.Exactly(1, check.RunningPods(app))))
	},
})
