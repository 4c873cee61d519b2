package budgets

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A budget that is lowered while Karpenter considers a disruption still applies. So a
// user can stop the disruption until Karpenter has finally chosen the node. Here both
// pools are about to lose empty nodes when one gets a budget of zero.
//
// Source: designs/disruption-controls.md; spec.disruption.budgets[].nodes.
var _ = Suite.Add(e2e.Spec{
	Name: "can be lowered before a disruption is carried out",
	Run: func(ctx context.Context, env *e2e.Env) {
		held, free := fixtures.NodePool(), fixtures.NodePool()
		holding, freely := fixtures.Deployment(1).On(held), fixtures.Deployment(1).On(free)
		env.Create(ctx, held, free, holding, freely)
		env.Await(ctx, 1, check.RunningPods(holding))
		env.Await(ctx, 1, check.RunningPods(freely))

		before := env.Mark()
		env.Delete(ctx, holding, freely)
		env.Observe(ctx, karpenter.NominationOver)
		env.Change(ctx, held.Consolidate(fixtures.WhenEmpty), free.Consolidate(fixtures.WhenEmpty))
		env.Observe(ctx, karpenter.ConsolidationBegun)
		env.Change(ctx, held.Budget("0"))
		env.Await(ctx, 0, check.Nodes(free))

		env.Expect(env.Since(before),
			check.Always(check.None(check.DisruptedNodes(held))),
			check.LeadsTo(check.AtLeast(1, check.DisruptedNodes(free)), check.None(check.Nodes(free))))
	},
})
