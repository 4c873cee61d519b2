package budgets

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A budget for empty nodes keeps them. A budget for the other reasons does not. Both
// pools are emptied and may be consolidated. Only their reasons differ.
//
// Source: designs/disruption-controls-by-reason.md;
// spec.disruption.budgets[].reasons.
var _ = Suite.Add(e2e.Spec{
	Name: "keep empty nodes only if they name them",
	Run: func(ctx context.Context, env *e2e.Env) {
		held := fixtures.NodePool().Budget("0", fixtures.Empty)
		free := fixtures.NodePool().Budget("0", fixtures.Drifted, fixtures.Underutilized)
		holding, freely := fixtures.Deployment(1).On(held), fixtures.Deployment(1).On(free)
		env.Create(ctx, held, free, holding, freely)
		env.Await(ctx, 1, check.RunningPods(holding))
		env.Await(ctx, 1, check.RunningPods(freely))

		before := env.Mark()
		env.Delete(ctx, holding, freely)
		env.Observe(ctx, karpenter.NominationOver)
		env.Change(ctx, held.Consolidate(fixtures.WhenEmpty), free.Consolidate(fixtures.WhenEmpty))
		env.Await(ctx, 0, check.Nodes(free))
		env.Observe(ctx, karpenter.ConsolidationDecided) // as underutilized they may go

		env.Expect(env.Since(before),
			check.Always(check.None(check.DisruptedNodes(held))),
			check.LeadsTo(check.AtLeast(1, check.DisruptedNodes(free)), check.None(check.Nodes(free))))
	},
})
