package upgrade

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A disruption budget holds while the controllers change. The old one leaves nodes in the middle of
// their drains, and the new one must count them before it disrupts more. Drift that is in progress
// on the day of an upgrade must neither stop nor take more nodes at once.
//
// Source: https://karpenter.sh/docs/concepts/disruption, "NodePool Disruption Budgets".
var _ = Suite.Add(e2e.Spec{
	Name:   "keeps a disruption budget while drift is in progress",
	Within: 8 * time.Minute,
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().Budget("2")
		app := fixtures.Deployment(8).OnePodPerNode().On(pool)
		env.Launch(ctx, 8, pool, app)
		env.UpgradeCRDs(ctx)

		before := env.Mark()
		env.Change(ctx, pool.NewTemplate())
		env.AwaitAtLeast(ctx, 1, check.Nodes(pool).Deleting())
		env.UpgradeController(ctx)
		changed := env.Mark()
		env.Await(ctx, 0, check.Nodes(pool).Old(before))
		env.Await(ctx, 8, check.RunningPods(app))

		disrupted := check.AtMost(2, check.BudgetedNodes(pool))
		env.Expect(env.Since(before), check.Always(disrupted), disrupted.Reached())
		env.Expect(env.Since(changed), check.ActsOnDrift(pool))
	},
})
