package budgets

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A node that a user deletes counts against the disruption budget. The budget limits how
// many nodes are out of use at a time, for any cause. Here a user deletes one of three
// nodes. The budget is one, so drift disrupts none.
//
// Source: designs/disruption-controls.md; https://karpenter.sh/docs/concepts/disruption,
// "NodePool Disruption Budgets": nodes that are being deleted are subtracted.
var _ = Suite.Add(e2e.Spec{
	Name: "count nodes that a user deletes",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool, free := fixtures.NodePool().Budget("1"), fixtures.NodePool().Budget("1")
		app, freely := lingeringPods(pool, 3), fixtures.Deployment(1).On(free)
		env.Create(ctx, pool, free, app, freely)
		env.Await(ctx, 3, check.RunningPods(app))
		env.Await(ctx, 1, check.RunningPods(freely))
		env.Await(ctx, 3, check.InitializedNodeClaims(pool)) // others don't count

		before := env.Mark()
		env.Delete(ctx, fixtures.Node(env.Await(ctx, 3, check.ReadyNodes(pool))[0].Name))
		env.Await(ctx, 1, check.BudgetedNodes(pool))
		env.Change(ctx, pool.NewTemplate(), free.NewTemplate())
		env.AwaitAtLeast(ctx, 2, check.DriftedNodeClaims(pool))
		env.Await(ctx, 1, check.RunningPods(freely).On(check.ReplacedNodes(free, before)))
		env.Observe(ctx, pressed)

		env.Expect(env.Since(before),
			check.Always(check.When(check.AtLeast(2, check.DriftedNodeClaims(pool)),
				check.AtMost(1, check.BudgetedNodes(pool)))),
			check.LeadsTo(check.AtLeast(1, check.DriftedNodeClaims(free)), check.AtLeast(1, check.ReplacedNodes(free, before))))
	},
})
