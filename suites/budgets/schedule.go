package budgets

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A budget with a schedule applies inside its window and has no effect outside it. It
// protects nodes during working hours. Here both pools have a budget of zero, and only
// their windows differ.
//
// Source: designs/disruption-controls.md; spec.disruption.budgets[].schedule
// (cron, in UTC) and .duration.
var _ = Suite.Add(e2e.Spec{
	Name: "with a schedule hold inside their window and not outside it",
	Run: func(ctx context.Context, env *e2e.Env) {
		inside, outside := fixtures.NodePool(), fixtures.NodePool()
		holding, freely := fixtures.Deployment(1).On(inside), fixtures.Deployment(1).On(outside)
		env.Create(ctx, inside, outside, holding, freely)
		pod := env.Await(ctx, 1, check.RunningPods(holding))[0]
		env.Await(ctx, 1, check.RunningPods(freely))
		now := pod.Unstructured().GetCreationTimestamp().Time // by the cluster's clock

		before := env.Mark()
		env.Change(ctx, inside.BudgetDuring(fixtures.WindowAround(now), "0").NewTemplate())
		env.Await(ctx, 1, check.DriftedNodeClaims(inside))
		env.Observe(ctx, karpenter.NominationOver)
		env.Change(ctx, outside.BudgetDuring(fixtures.WindowAwayFrom(now), "0").NewTemplate())
		env.Await(ctx, 1, check.RunningPods(freely).On(check.ReplacedNodes(outside, before)))

		env.Expect(env.Since(before), check.HoldsDriftBack(inside))
	},
})
