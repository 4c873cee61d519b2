package budgets

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// A budget for empty nodes keeps them, and one for the other reasons doesn't: both
// pools are emptied and may be consolidated, and only their reasons differ.
//
// Source: designs/disruption-controls-by-reason.md;
// spec.disruption.budgets[].reasons.
var _ = Suite.Add(e2e.Spec{
	Name:  "keep empty nodes only if they name them",
	Needs: []providers.Capability{providers.NodePools},
	Run: func(ctx context.Context, env *e2e.Env) {
		held := fixtures.NodePool().Budget("0", fixtures.Empty)
		free := fixtures.NodePool().Budget("0", fixtures.Drifted, fixtures.Underutilized)
		holding, freely := fixtures.Deployment(1).On(held), fixtures.Deployment(1).On(free)
		env.Create(ctx, held, free, holding, freely)
		env.Await(ctx, 1, check.RunningPods(holding))
		env.Await(ctx, 1, check.RunningPods(freely))

		before := env.Now()
		env.Delete(ctx, holding, freely)
		env.Watch(ctx, rested)
		env.Change(ctx, removesEmpty(held), removesEmpty(free))
		env.Await(ctx, 0, check.Nodes(free))

		env.Expect(env.Since(before),
			check.Always(check.None(check.DisruptedNodes(held))),
			check.LeadsTo(check.AtLeast(1, check.DisruptedNodes(free)), check.None(check.Nodes(free))))
	},
})
