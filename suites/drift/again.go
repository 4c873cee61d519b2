package drift

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// If a replacement is lost before it takes over, the drifted node stays in service, and
// Karpenter tries again. An instance may be lost at any time. The pods must not lose
// their node, and the node must not stay drifted for good.
//
// Source: Karpenter: pkg/controllers/disruption/queue.go, waitOrTerminate
// ("replacement was deleted").
var _ = Suite.Add(e2e.Spec{
	Name: "keeps a node whose replacement fails, and tries again",
	Run: func(ctx context.Context, env *e2e.Env) {
		starting := fixtures.Key("starting")
		pool := fixtures.NodePool()
		app := fixtures.Deployment(1).On(pool)
		env.Create(ctx, pool, app)
		env.Await(ctx, 1, check.RunningPods(app))

		before := env.Mark()
		env.Change(ctx, pool.StartupTaint(starting, fixtures.NoSchedule))
		lost := env.Await(ctx, 1, check.NodeClaims(pool).In(karpenter.Registered).New(before))[0]
		first := env.Mark()
		env.Delete(ctx, lost)
		disrupted := check.DisruptedNodes(pool).Old(before)
		env.Await(ctx, 0, disrupted)
		second := env.Await(ctx, 1, check.StartingNodes(pool, starting).New(first))[0]
		trying := env.Since(before)
		env.RemoveTaint(ctx, starting, second)
		env.Await(ctx, 1, check.RunningPods(app).On(check.ReplacedNodes(pool, first)))

		env.Expect(trying,
			check.While(check.DriftedNodeClaims(pool), check.Exactly(1, check.ReadyNodes(pool).Staying().Old(before))),
			check.Whenever(check.Leaves(disrupted), "it stays",
				check.ForAny(check.Exactly(1, check.ReadyNodes(pool).Staying().Old(before)))))
	},
})
