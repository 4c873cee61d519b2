package drift

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter also replaces nodes when the startup taints change. The old node stays while
// the new node has a startup taint. A replacement that isn't initialized can't run
// anything yet.
//
// Source: https://karpenter.sh/docs/concepts/disruption/#drift, "Static fields";
// condition Initialized of the NodeClaim API.
var _ = Suite.Add(e2e.Spec{
	Name: "waits for the startup taints of a replacement to go",
	Run: func(ctx context.Context, env *e2e.Env) {
		starting := fixtures.Key("starting")
		pool := fixtures.NodePool()
		app := fixtures.Deployment(1).On(pool)
		env.Create(ctx, pool, app)
		env.Await(ctx, 1, check.RunningPods(app))

		before := env.Mark()
		env.Change(ctx, pool.StartupTaint(starting, fixtures.NoSchedule))
		held := env.Await(ctx, 1, check.StartingNodes(pool, starting).New(before))
		env.Observe(ctx, karpenter.Settled)
		waiting := env.Since(before)
		env.RemoveTaint(ctx, starting, held[0])
		env.Await(ctx, 1, check.RunningPods(app).On(check.ReplacedNodes(pool, before)))
		env.Await(ctx, 0, check.Nodes(pool).Old(before))

		env.Expect(waiting, check.ActsOnDrift(pool),
			check.Always(check.Exactly(1, check.ReadyNodes(pool).Staying().Old(before))))
	},
})
