package taints

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A node is initialized as soon as its startup taint is gone, and not earlier. Karpenter
// may not disrupt it or count on it as a replacement before it can run anything.
//
// Source: condition Initialized of the NodeClaim API, label
// karpenter.sh/initialized.
var _ = Suite.Add(e2e.Spec{
	Name: "of startup keep a node from being initialized",
	Run: func(ctx context.Context, env *e2e.Env) {
		starting := fixtures.Key("starting")
		pool := fixtures.NodePool().StartupTaint(starting, fixtures.NoSchedule)
		app := fixtures.Deployment(1).On(pool)

		before := env.Mark()
		env.Create(ctx, pool, app)
		node := env.Await(ctx, 1, check.StartingNodes(pool, starting))[0]
		env.Observe(ctx, karpenter.Settled)
		env.Expect(env.Since(before), check.Always(check.None(check.InitializedNodes(pool))))

		env.RemoveTaint(ctx, starting, node)
		env.Await(ctx, 1, check.InitializedNodeClaims(pool))
		env.Await(ctx, 1, check.InitializedNodes(pool))
	},
})
