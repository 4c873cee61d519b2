package consolidation

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter removes as many nodes in one step as its budget allows. A budget for fewer nodes than
// could go makes the step smaller, and doesn't rule it out. Otherwise nodes go one by one, and
// those that are worth removing only together stay. Here three nodes could go.
//
// Source: https://karpenter.sh/docs/concepts/disruption, "Consolidation", multi-node
// consolidation; spec.disruption.budgets[].nodes.
var _ = Suite.Add(e2e.Spec{
	Name: "removes as many nodes in one step as the budget allows if more could go",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().OnDemand().Consolidate(fixtures.WhenEmptyOrUnderutilized).Budget("2")
		large := fixtures.Deployment(3).OnePodPerNode().On(pool).CPU("3")
		nodes := env.Launch(ctx, 3, pool, large)
		app := fixtures.Deployment(3).On(pool).CPU(fixtures.MostCPUs(nodes[0].Unstructured(), "3"))
		env.Create(ctx, app)
		env.Await(ctx, 3, check.RunningPods(app))
		env.Observe(ctx, karpenter.NominationOver)

		before := env.Mark()
		env.Delete(ctx, large)
		env.Await(ctx, 2, check.DisruptedNodes(pool))

		env.Expect(env.Since(before), check.Always(check.AtMost(2, check.BudgetedNodes(pool))))
		env.ExpectUndisturbed(env.Since(before), check.Within(karpenter.MinDrain,
			check.LeadsTo(check.AtLeast(1, check.DisruptedNodes(pool)), check.Exactly(2, check.DisruptedNodes(pool)))))
	},
})
