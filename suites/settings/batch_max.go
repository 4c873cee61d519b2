package settings

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A batch is closed after batch-max-duration even if pods keep coming. The first of them
// must not wait for the last, or a busy cluster would never launch a node.
//
// Source: https://karpenter.sh/docs/reference/settings, BATCH_MAX_DURATION.
var _ = Suite.Add(e2e.Spec{
	Name: "launches a node after batch-max-duration, although no batch was idle",
	Run: func(ctx context.Context, env *e2e.Env) {
		env.Configure(ctx, e2e.Settings{
			karpenter.BatchIdleDuration: longer.String(), karpenter.BatchMaxDuration: karpenter.BatchMax.String(),
		})
		pool := fixtures.NodePool()
		app := fixtures.Deployment(1).On(pool)

		before := env.Mark()
		env.Create(ctx, pool, app)
		env.Await(ctx, 1, check.RunningPods(app))

		env.Expect(env.Since(before), check.Within(longer/2,
			check.LeadsTo(check.AtLeast(1, check.UnschedulablePods(app)), check.AtLeast(1, check.NodeClaims(pool)))))
	},
})
