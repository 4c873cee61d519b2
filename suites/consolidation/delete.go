package consolidation

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter removes a node whose pods fit on other nodes, and launches no replacement.
// This makes a cluster smaller again after a busy hour. Here all pods run on one node in
// the end, and none is launched.
//
// Source: https://karpenter.sh/docs/concepts/disruption, "Consolidation";
// spec.disruption.consolidationPolicy of the NodePool API.
var _ = Suite.Add(e2e.Spec{
	Name: "removes a node whose pods fit on another and launches none for them",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().Consolidate(fixtures.WhenEmptyOrUnderutilized)
		app, first := fixtures.Deployment(2).On(pool), fixtures.Deployment(1).On(pool).HostPort(port)
		second := fixtures.Deployment(1).On(pool).HostPort(port)
		env.Create(ctx, pool, app, first)
		env.Await(ctx, 2, check.RunningPods(app))
		env.Await(ctx, 1, check.RunningPods(first))
		env.Create(ctx, second)
		env.Await(ctx, 1, check.RunningPods(second))
		env.Await(ctx, 2, check.ReadyNodes(pool))
		env.Observe(ctx, karpenter.NominationOver)

		before := env.Mark()
		env.Delete(ctx, first)
		env.Await(ctx, 1, check.DisruptedNodes(pool))
		env.Await(ctx, 1, check.Nodes(pool))
		env.Await(ctx, 2, check.RunningPods(app).On(check.ReadyNodes(pool)))
		env.Await(ctx, 1, check.RunningPods(second).On(check.ReadyNodes(pool)))

		env.Expect(env.Since(before),
			check.Always(check.When(check.None(check.PodsOf(first)), check.None(check.NodeClaims(pool).New(before)))),
			check.LeadsTo(check.AtLeast(1, check.DisruptedNodes(pool)), check.Exactly(1, check.Nodes(pool))))
	},
})
