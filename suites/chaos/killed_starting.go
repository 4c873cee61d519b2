package chaos

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A controller that is killed while nodes start knows of them when it is back: it
// launches none again for the pods that wait for them, and forgets none. Every
// upgrade of Karpenter ends its controller somewhere, and must not double what is
// on its way. That it is back shows by another pool, which it launches a node for.
//
// Source: https://karpenter.sh/docs/concepts/nodeclaims: a NodeClaim is the record
// of a launch; startup taints "are ignored for provisioning purposes"
// (spec.template.spec.startupTaints).
var _ = Suite.Add(e2e.Spec{
	Name:   "of a controller that is killed while nodes start neither duplicates nor loses a node",
	Within: 3 * time.Minute,
	Run: func(ctx context.Context, env *e2e.Env) {
		starting := fixtures.Key("starting")
		pool, other := fixtures.NodePool().StartupTaint(starting, fixtures.NoSchedule), fixtures.NodePool()
		app, late := fixtures.Deployment(2).OnePodPerNode().On(pool), fixtures.Deployment(1).On(other)

		before := env.Mark()
		env.Create(ctx, pool, other, app)
		nodes := env.Await(ctx, 2, check.StartingNodes(pool, starting))
		env.KillController(ctx)
		env.Create(ctx, late)
		env.Await(ctx, 1, check.RunningPods(late))
		env.RemoveTaint(ctx, starting, nodes...)
		env.Await(ctx, 2, check.RunningPods(app))
		env.Await(ctx, 2, check.InitializedNodes(pool))

		launched := check.AtMost(2, check.NodeClaims(pool))
		env.Expect(env.Since(before), check.Always(launched), launched.Reached())
	},
})
