package taints

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// A node with a startup taint is not initialized, and is as soon as the taint
// is gone: Karpenter may not disrupt a node, nor count on it as a replacement,
// before it can run anything.
//
// Source: condition Initialized of the NodeClaim API, label
// karpenter.sh/initialized.
var _ = Suite.Add(e2e.Spec{
	Name:  "of a node's startup keep it from being initialized",
	Needs: []providers.Capability{providers.NodePools},
	Run: func(ctx context.Context, env *e2e.Env) {
		starting := fixtures.Key("starting")
		pool := fixtures.NodePool().StartupTaint(starting, fixtures.NoSchedule)
		app := fixtures.Deployment(1).On(pool)

		before := env.Now()
		env.Create(ctx, pool, app)
		node := env.Await(ctx, 1, check.ReadyNodes(pool).With("and starting", check.Tainted(starting)))[0]
		env.Watch(ctx, settled)
		env.Expect(env.Since(before), check.Always(check.None(initialized(pool))))

		env.RemoveTaint(ctx, node.Name, starting)
		env.Await(ctx, 1, check.InitializedClaims(pool))
		env.Await(ctx, 1, initialized(pool))
	},
})
