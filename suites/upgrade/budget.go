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
// on the day of an upgrade must not take more nodes at once. Here the pods take their time, so that the
// drains last longer than the upgrade.
//
// Source: https://karpenter.sh/docs/concepts/disruption, "NodePool Disruption Budgets".
var _ = Suite.Add(e2e.Spec{
	Name:   "keeps a disruption budget while drift is in progress",
	Within: 8 * time.Minute,
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().Budget("2")
		app := fixtures.Deployment(6).OnePodPerNode().On(pool).GracePeriod(600).Lingering()
		env.Launch(ctx, 6, pool, app)

		before := env.Mark()
		env.Change(ctx, pool.NewTemplate())
		env.Await(ctx, 2, check.Nodes(pool).Deleting())
		env.Upgrade(ctx)
		env.Observe(ctx, takenOver)

		disrupted := check.AtMost(2, check.DisruptedNodes(pool))
		env.Expect(env.Since(before), check.Always(disrupted), disrupted.Reached(),
			check.Finally(check.Exactly(2, check.Nodes(pool).Deleting())))
	},
})
