package budgets

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter never replaces more underutilized nodes at once than the budget allows. It
// replaces nodes that are too large for their pods by smaller nodes. Here the replacement
// keeps a startup taint, so the old node stays disrupted. The budget is used up, and the
// other node must wait.
//
// Source: designs/disruption-controls.md; spec.disruption.budgets[].nodes.
var _ = Suite.Add(e2e.Spec{
	Name: "are never exceeded when underutilized nodes are replaced",
	Run: func(ctx context.Context, env *e2e.Env) {
		starting := fixtures.Key("starting")
		pool := fixtures.NodePool().OnDemand().Consolidate(fixtures.WhenEmptyOrUnderutilized).Budget("1").
			StartupTaint(starting, fixtures.NoSchedule)
		app := fixtures.Deployment(2).OnePodPerNode().On(pool)
		large := fixtures.Deployment(2).OnePodPerNode().On(pool).CPU("3")
		env.Create(ctx, pool, large)
		nodes := env.Await(ctx, 2, check.StartingNodes(pool, starting))
		env.RemoveTaint(ctx, starting, nodes...)
		env.Await(ctx, 2, check.RunningPods(large))
		env.Create(ctx, app)
		env.Await(ctx, 2, check.RunningPods(app))
		env.Observe(ctx, karpenter.NominationOver)

		before := env.Mark()
		env.Delete(ctx, large)
		env.Await(ctx, 1, check.ReadyNodes(pool).New(before))
		env.Observe(ctx, pressed)

		env.Expect(env.Since(before),
			check.Always(check.AtMost(1, check.BudgetedNodes(pool))),
			check.LeadsTo(check.AtLeast(1, check.BudgetedNodes(pool)), check.AtLeast(1, check.ReadyNodes(pool).New(before))))
	},
})
