package budgets

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A node that is not ready counts against the disruption budget. Otherwise an update that
// disrupts as many nodes as usual could cause an outage. Here one node of three is not
// ready, and the budget is one. Drift disrupts no node until that node is ready again.
//
// Source: designs/disruption-controls.md; https://karpenter.sh/docs/concepts/disruption,
// "NodePool Disruption Budgets": nodes that are not ready are subtracted.
var _ = Suite.Add(e2e.Spec{
	Name:   "count nodes that are not ready",
	Within: 3 * time.Minute,
	Run: func(ctx context.Context, env *e2e.Env) {
		pool, free := fixtures.NodePool().Budget("1"), fixtures.NodePool().Budget("1")
		app, freely := lingeringPods(pool, 3), fixtures.Deployment(1).On(free)
		env.Create(ctx, pool, free, app, freely)
		env.Await(ctx, 3, check.RunningPods(app))
		env.Await(ctx, 1, check.RunningPods(freely))
		env.Await(ctx, 3, check.InitializedNodeClaims(pool))
		node := env.Await(ctx, 3, check.ReadyNodes(pool))[0]

		before := env.Mark()
		env.Patch(ctx, node, fixtures.NoKubelet)
		env.PatchStatus(ctx, node, fixtures.NotReady(time.Now()))
		env.Await(ctx, 2, check.ReadyNodes(pool))
		env.Change(ctx, pool.NewTemplate(), free.NewTemplate())
		env.Await(ctx, 3, check.DriftedNodeClaims(pool))
		env.Await(ctx, 1, check.RunningPods(freely).On(check.ReplacedNodes(free, before)))
		env.Observe(ctx, pressed)
		env.Expect(env.Since(before), check.Always(check.When(
			check.AllOf(check.AtMost(2, check.ReadyNodes(pool)), check.AtLeast(1, check.DriftedNodeClaims(pool))),
			check.None(check.DisruptedNodes(pool)))))

		env.Patch(ctx, node, fixtures.AKubelet)
		env.Await(ctx, 1, check.BudgetedNodes(pool))
	},
})
