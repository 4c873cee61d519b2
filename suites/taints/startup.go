package taints

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Pods get a node launched without tolerating a startup taint. The taint holds these pods
// until somebody removes it. Network agents and device drivers first prepare the node.
//
// Source: spec.template.spec.startupTaints of the NodePool API.
var _ = Suite.Add(e2e.Spec{
	Name: "of startup keep pods off a node until they are removed",
	Run: func(ctx context.Context, env *e2e.Env) {
		starting := fixtures.Key("starting")
		pool := fixtures.NodePool().StartupTaint(starting, fixtures.NoSchedule)
		app := fixtures.Deployment(2).On(pool)

		before := env.Mark()
		env.Create(ctx, pool, app)
		node := env.Await(ctx, 1, check.RegisteredNodes(pool))[0]
		env.Observe(ctx, karpenter.Settled)
		held := env.Since(before)
		env.RemoveTaint(ctx, starting, node)
		env.Await(ctx, 2, check.RunningPods(app))

		env.Expect(held, check.Always(check.None(check.BoundPods(app))))
		env.Expect(env.Since(before), check.Always(check.AtMost(1, check.NodeClaims(pool))))
	},
})
