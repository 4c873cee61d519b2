package chaos

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A controller that is killed while nodes start still knows them after the restart. It
// loses no node and launches no more nodes for the waiting pods. Every upgrade of
// Karpenter stops its controller and must not double starting nodes. A node for another
// pool shows that the controller is back.
//
// Source: https://karpenter.sh/docs/concepts/nodeclaims: a NodeClaim is the record
// of a launch; startup taints "are ignored for provisioning purposes"
// (spec.template.spec.startupTaints).
var _ = Suite.Add(e2e.Spec{
	Name:   "neither duplicates nor loses a node when its controller is killed while nodes start",
	Within: 3 * time.Minute,
	Run:    whileNodesStart(func(ctx context.Context, env *e2e.Env) { env.KillController(ctx) }),
})

// whileNodesStart returns the function of a spec that ends the controller while two nodes start.
func whileNodesStart(end func(context.Context, *e2e.Env)) func(context.Context, *e2e.Env) {
	return func(ctx context.Context, env *e2e.Env) {
		starting := fixtures.Key("starting")
		pool, other := fixtures.NodePool().StartupTaint(starting, fixtures.NoSchedule), fixtures.NodePool()
		app, late := fixtures.Deployment(2).OnePodPerNode().On(pool), fixtures.Deployment(1).On(other)

		before := env.Mark()
		env.Create(ctx, pool, other, app)
		nodes := env.Await(ctx, 2, check.StartingNodes(pool, starting))
		end(ctx, env)
		env.Create(ctx, late)
		env.Await(ctx, 1, check.RunningPods(late))
		env.RemoveTaint(ctx, starting, nodes[0], nodes[1])
		env.Await(ctx, 2, check.RunningPods(app))
		env.Await(ctx, 2, check.InitializedNodes(pool))

		launched := check.AtMost(2, check.NodeClaims(pool))
		env.Expect(env.Since(before), check.Always(launched), launched.Reached())
	}
}
