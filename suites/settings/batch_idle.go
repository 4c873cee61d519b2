package settings

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// longer is a duration that a batch stays open. It is far from both defaults.
const longer = 40 * time.Second

// A batch stays open until no pod has come for batch-idle-duration. Whoever starts jobs in
// waves sets a longer time, and gets one large node for a wave in place of many small ones.
//
// Source: https://karpenter.sh/docs/reference/settings, BATCH_IDLE_DURATION.
var _ = Suite.Add(e2e.Spec{
	Name: "launches nothing before no pod has come for batch-idle-duration",
	Run: func(ctx context.Context, env *e2e.Env) {
		env.Configure(ctx, e2e.Settings{
			karpenter.BatchIdleDuration: longer.String(), karpenter.BatchMaxDuration: (2 * longer).String(),
		})
		pool := fixtures.NodePool()
		app := fixtures.Deployment(1).On(pool)
		env.Create(ctx, pool, app)
		env.Await(ctx, 1, check.UnschedulablePods(app))

		open := env.Observe(ctx, longer/2)
		env.Await(ctx, 1, check.RunningPods(app))

		env.Expect(open, check.While(check.PodsOf(app), check.None(check.NodeClaims(pool))))
	},
})
