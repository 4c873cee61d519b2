package budgets

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A budget in percent counts only initialized nodes. Starting replacements cannot take
// over pods yet, and counting them would raise the budget. Here the replacement keeps its
// startup taint. Half of two nodes is one; with the replacement it would be two.
//
// Source: https://karpenter.sh/docs/concepts/disruption, "NodePool Disruption Budgets";
// Karpenter: pkg/controllers/disruption/helpers.go, NodePoolStatsFromNodes.
var _ = Suite.Add(e2e.Spec{
	Name: "in percent don't count nodes that aren't initialized",
	Run: func(ctx context.Context, env *e2e.Env) {
		starting := fixtures.Key("starting")
		pool := fixtures.NodePool().Budget("50%").StartupTaint(starting, fixtures.NoSchedule)
		app := fixtures.Deployment(2).OnePodPerNode().On(pool)
		env.Create(ctx, pool, app)
		nodes := env.Await(ctx, 2, check.StartingNodes(pool, starting))
		env.RemoveTaint(ctx, starting, nodes...)
		env.Await(ctx, 2, check.RunningPods(app))
		env.Await(ctx, 2, check.InitializedNodeClaims(pool))

		before := env.Mark()
		env.Change(ctx, pool.NewTemplate())
		env.Await(ctx, 2, outdatedNodeClaims(pool))
		env.Await(ctx, 1, check.ReadyNodes(pool).New(before))
		env.Observe(ctx, pressed)

		env.Expect(env.Since(before), check.Always(check.AtMost(1, check.BudgetedNodes(pool))), usedUp(1, pool))
	},
})
