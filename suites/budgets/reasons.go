package budgets

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A budget with reasons limits only disruption for those reasons. So a user can stop
// drift during a release and still have empty nodes removed, or the reverse. Here one
// pool stops drift, and the other all but drift.
//
// Source: designs/disruption-controls-by-reason.md;
// spec.disruption.budgets[].reasons.
var _ = Suite.Add(e2e.Spec{
	Name: "hold drift back only if they name it",
	Run: func(ctx context.Context, env *e2e.Env) {
		held := fixtures.NodePool().Budget("0", fixtures.Drifted)
		free := fixtures.NodePool().Budget("0", fixtures.Empty, fixtures.Underutilized)
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
	},
})
