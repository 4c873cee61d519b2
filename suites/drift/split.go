package drift

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter keeps a drifted node until all of its replacements are ready, if its pods need several. It
// waits for each, and takes no new pods on the old node meanwhile. If it waited for the first alone, or
// gave up, pods would be evicted that have no place yet. Here two pods share a rack that their pool no
// longer has, and may be in one other rack each.
//
// Source: https://karpenter.sh/docs/concepts/disruption, "Control Flow": pre-spin of replacements, of
// which all must be ready; Karpenter: pkg/controllers/disruption/queue.go, waitOrTerminate.
var _ = Suite.Add(e2e.Spec{
	Name: "keeps a node until all of its replacements are ready",
	Run: func(ctx context.Context, env *e2e.Env) {
		rack, starting := fixtures.Key("rack"), fixtures.Key("starting")
		pool := fixtures.NodePool().Require(rack, fixtures.In, "old")
		one := fixtures.Deployment(1).On(pool).Require(rack, fixtures.In, "old", "a")
		two := fixtures.Deployment(1).On(pool).Require(rack, fixtures.In, "old", "b")
		env.Create(ctx, pool, one)
		env.Await(ctx, 1, check.RunningPods(one))
		env.Create(ctx, two)
		env.Await(ctx, 1, check.RunningPods(two))

		before := env.Mark()
		env.Change(ctx, pool.Require(rack, fixtures.In, "a", "b").StartupTaint(starting, fixtures.NoSchedule))
		held := env.Await(ctx, 2, check.StartingNodes(pool, starting).New(before))
		env.RemoveTaint(ctx, starting, held[0])
		env.Await(ctx, 1, check.InitializedNodeClaims(pool).New(before))
		env.Observe(ctx, karpenter.Settled)
		waiting := env.Since(before)
		env.RemoveTaint(ctx, starting, held[1])
		env.Await(ctx, 1, check.RunningPods(one).On(check.ReplacedNodes(pool, before)))
		env.Await(ctx, 1, check.RunningPods(two).On(check.ReplacedNodes(pool, before)))
		env.Await(ctx, 0, check.Nodes(pool).Old(before))

		env.Expect(waiting, check.ActsOnDrift(pool), check.While(check.StartingNodes(pool, starting).New(before),
			check.Exactly(1, check.DisruptedNodes(pool).Staying().Old(before))))
		env.Expect(env.Since(before), check.Always(check.AtMost(2, check.NodeClaims(pool).New(before))))
	},
})
