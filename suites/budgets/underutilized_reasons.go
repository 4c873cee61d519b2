package budgets

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A budget for underutilized nodes keeps them. A budget for the other reasons does not.
// Both pools have a node that is too large for its pod and may be consolidated. Only
// their reasons differ.
//
// Source: designs/disruption-controls-by-reason.md;
// spec.disruption.budgets[].reasons.
var _ = Suite.Add(e2e.Spec{
	Name: "keep underutilized nodes only if they name them",
	Run: func(ctx context.Context, env *e2e.Env) {
		held := fixtures.NodePool().OnDemand().Consolidate(fixtures.WhenEmptyOrUnderutilized).
			Budget("0", fixtures.Underutilized)
		free := fixtures.NodePool().OnDemand().Consolidate(fixtures.WhenEmptyOrUnderutilized).
			Budget("0", fixtures.Drifted, fixtures.Empty)
		holding, freely := fixtures.Deployment(1).On(held), fixtures.Deployment(1).On(free)
		large, other := fixtures.Deployment(1).On(held).CPU("3"), fixtures.Deployment(1).On(free).CPU("3")
		env.Create(ctx, held, free, large, other)
		env.Await(ctx, 1, check.RunningPods(large))
		env.Await(ctx, 1, check.RunningPods(other))
		env.Create(ctx, holding, freely)
		env.Await(ctx, 1, check.RunningPods(holding))
		env.Await(ctx, 1, check.RunningPods(freely))
		env.Observe(ctx, karpenter.NominationOver)

		before := env.Mark()
		env.Delete(ctx, large, other)
		env.Await(ctx, 1, check.DisruptedNodes(free))
		env.Observe(ctx, karpenter.ConsolidationDecided)
		env.Await(ctx, 0, check.Nodes(free).Old(before))

		env.Expect(env.Since(before),
			check.Always(check.None(check.DisruptedNodes(held))),
			check.LeadsTo(check.AtLeast(1, check.DisruptedNodes(free)), check.None(check.Nodes(free).Old(before))))
	},
})
