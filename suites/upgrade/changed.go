package upgrade

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// What was stored before can be changed and deleted under the new CRDs, while the old controller
// still runs and under the new one. A pool that nobody can change any more, or whose status and
// finalizers the controller can't write, is stuck, and so are its nodes.
//
// Source: https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions,
// "Validation ratcheting"; https://karpenter.sh/docs/upgrading/upgrade-guide: CRDs come first.
var _ = Suite.Add(e2e.Spec{
	Name:   "lets what was stored before be changed and deleted",
	Within: 5 * time.Minute,
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fullPool()
		app := tolerant(fixtures.Deployment(1).On(pool))
		env.Launch(ctx, 1, pool, app)

		before := env.Mark()
		env.UpgradeCRDs(ctx)
		env.Change(ctx, pool.Weight(5))
		env.UpgradeController(ctx)
		env.Observe(ctx, takenOver)
		env.Change(ctx, pool.Weight(6).OwnLabel(team, "red"))
		env.Change(ctx, pool.NewTemplate())
		env.Await(ctx, 1, check.RunningPods(app).On(check.ReplacedNodes(pool, before)))
		env.Await(ctx, 0, check.NodeClaims(pool).Old(before))
		env.Delete(ctx, pool)
		env.Await(ctx, 0, check.NodeClaims(pool))

		env.Expect(env.Since(before), check.ActsOnDrift(pool))
	},
})
