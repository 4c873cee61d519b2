package taints

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A node gets no new pods once Karpenter has chosen it for disruption, although it has
// room and runs others. New pods would be evicted minutes later. Here the replacement's
// startup is delayed, so the old node keeps its taint while the pods come.
//
// Source: designs/no-schedule-taint.md, taint karpenter.sh/disrupted:NoSchedule.
var _ = Suite.Add(e2e.Spec{
	Name: "keep new pods off a node that is being disrupted",
	Run: func(ctx context.Context, env *e2e.Env) {
		starting := fixtures.Key("starting")
		pool := fixtures.NodePool()
		app, late := fixtures.Deployment(1).On(pool), fixtures.Deployment(2).On(pool)
		env.Create(ctx, pool, app)
		env.Await(ctx, 1, check.RunningPods(app))

		before := env.Mark()
		env.Change(ctx, pool.StartupTaint(starting, fixtures.NoSchedule))
		node := env.Await(ctx, 1, check.RegisteredNodes(pool).New(before))[0]
		env.Create(ctx, late)
		env.Observe(ctx, karpenter.Settled)
		env.Expect(env.Since(before),
			check.While(check.DriftedNodeClaims(pool), check.None(check.PodsOf(late).On(check.Nodes(pool).Old(before)))))

		env.RemoveTaint(ctx, starting, node)
		env.Await(ctx, 2, check.RunningPods(late).On(check.ReplacedNodes(pool, before)))
	},
})
