package budgets

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A budget of zero stops drift for as long as it exists. Operators set it during an
// incident. Here another pool drifts meanwhile, and this pool drifts once its budget is
// removed.
//
// Source: designs/disruption-controls.md; spec.disruption.budgets[].nodes.
var _ = Suite.Add(e2e.Spec{
	Name: "of zero hold drift back until they are lifted",
	Run: func(ctx context.Context, env *e2e.Env) {
		held, free := fixtures.NodePool().Budget("0"), fixtures.NodePool()
		holding, freely := fixtures.Deployment(1).On(held), fixtures.Deployment(1).On(free)
		env.Create(ctx, held, free, holding, freely)
		env.Await(ctx, 1, check.RunningPods(holding))
		env.Await(ctx, 1, check.RunningPods(freely))

		before := env.Mark()
		env.Change(ctx, held.NewTemplate())
		env.Await(ctx, 1, check.DriftedNodeClaims(held))
		env.Observe(ctx, karpenter.NominationOver)
		env.Change(ctx, free.NewTemplate())
		env.Await(ctx, 1, check.RunningPods(freely).On(check.ReplacedNodes(free, before)))
		env.Expect(env.Since(before), check.HoldsDriftBack(held))

		env.Change(ctx, held.NoBudgets())
		env.Await(ctx, 1, check.RunningPods(holding).On(check.ReplacedNodes(held, before)))
	},
})
