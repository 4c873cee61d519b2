package taints

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A daemon that tolerates a startup taint runs while the taint still holds the pods that
// caused the launch. An agent can thus reach the node before them, prepare it, and remove
// the taint.
//
// Source: spec.template.spec.startupTaints of the NodePool API;
// https://karpenter.sh/docs/concepts/nodepools, "Cilium Startup Taint".
var _ = Suite.Add(e2e.Spec{
	Name: "of startup let daemons that tolerate them run, and other pods only after their removal",
	Run: func(ctx context.Context, env *e2e.Env) {
		starting := fixtures.Key("starting")
		pool := fixtures.NodePool().StartupTaint(starting, fixtures.NoExecute)
		daemon := fixtures.DaemonSet().On(pool).Tolerate(starting)
		app := fixtures.Deployment(2).On(pool)

		before := env.Mark()
		env.Create(ctx, pool, daemon, app)
		node := env.Await(ctx, 1, check.RegisteredNodes(pool))[0]
		env.Await(ctx, 1, check.RunningPods(daemon))
		env.Observe(ctx, karpenter.Settled)
		held := env.Since(before)
		env.RemoveTaint(ctx, starting, node)
		env.Await(ctx, 2, check.RunningPods(app))

		onStarting := check.Nodes(pool).With("that are starting", check.TaintedWith(starting, fixtures.NoExecute))
		env.Expect(held, check.Always(check.None(check.BoundPods(app))),
			check.LeadsTo(check.AtLeast(1, onStarting), check.AtLeast(1, check.RunningPods(daemon).On(onStarting))))
		env.Expect(env.Since(before), check.Always(check.AtMost(1, check.NodeClaims(pool))))
	},
})
