package cloud

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// That an instance is likelier than others to be interrupted disrupts nothing by itself:
// it may never be, and whoever moved pods at every such word would move them all day. That
// such words arrive shows by another node's interruption, told of right after, which is
// acted upon.
//
// Source: https://karpenter.sh/docs/concepts/disruption, "Interruption": there is no taint,
// drain and terminate logic for rebalance recommendations.
var _ = Suite.Add(e2e.Spec{
	Name:   "that recommends a rebalance loses no node to that",
	Needs:  []providers.Capability{providers.NodePools, providers.Interruption, providers.Spot},
	Hooks:  []providers.HookName{providers.Rebalance, providers.Interrupt},
	Within: 5 * time.Minute,
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().Require(karpenter.CapacityTypeLabel, fixtures.In, karpenter.Spot)
		app := fixtures.Deployment(2).OnePodPerNode().On(pool)
		nodes := running(ctx, env, pool, app, 2)
		likely, interrupted := nodes[0], nodes[1]

		before, old := env.Now(), env.World()
		env.Hook(ctx, providers.Rebalance, about(likely))
		env.Hook(ctx, providers.Interrupt, about(interrupted))
		env.Await(ctx, 0, of(check.Nodes(pool), interrupted.Name))
		env.Await(ctx, 2, check.RunningPods(app))
		env.Watch(ctx, settled)

		env.Expect(env.Since(before),
			check.LeadsTo(check.AtLeast(1, of(check.DisruptedNodes(pool), interrupted.Name)), check.None(of(check.Nodes(pool), interrupted.Name))),
			check.Always(check.Exactly(1, of(check.ReadyNodes(pool), likely.Name))),
			check.Always(check.None(of(check.DisruptedNodes(pool), likely.Name).AmongObjects(check.Nodes(pool)))),
			check.Always(check.AtMost(1, check.NodeClaims(pool).New(old))))
	},
})
