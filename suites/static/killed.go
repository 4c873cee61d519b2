package static

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A static pool has as many nodes as replicas, and never more. This holds even if the
// controller is killed while nodes start. The new controller must first learn what
// exists. Otherwise an upgrade of Karpenter could launch all nodes twice. Here one more
// replica shows that it is back.
//
// Source: designs/static-capacity.md, "Scale-Up Controller"; Karpenter:
// pkg/controllers/static/provisioning, which waits until its state is in step after "a
// controller crash".
var _ = Suite.Add(e2e.Spec{
	Name: "has one node for each replica after the controller is killed",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().Replicas(4).StartupTaint(fixtures.Key("starting"), fixtures.NoSchedule)
		env.Create(ctx, pool)
		env.Await(ctx, 4, check.RegisteredNodes(pool))

		before := env.Mark()
		env.KillController(ctx)
		env.Change(ctx, pool.Replicas(5))
		env.Await(ctx, 5, check.RegisteredNodes(pool))
		env.Observe(ctx, karpenter.Settled)

		replicas := check.AtMost(5, check.NodeClaims(pool))
		env.Expect(env.Since(before), check.Always(replicas), replicas.Reached(),
			check.While(check.RegisteredNodes(pool), check.Exactly(4, check.RegisteredNodes(pool).Old(before))))
		removeNodes(ctx, env, pool)
	},
})
