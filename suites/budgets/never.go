package budgets

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A budget whose window never opens has no effect. Users switch a schedule off by a day that
// doesn't exist, the 31st of February, and leave the budget where it was. If it holds always
// instead, no node is ever replaced.
//
// Source: spec.disruption.budgets[].schedule of the NodePool API (cron) and .duration;
// designs/disruption-controls.md.
var _ = Suite.Add(e2e.Spec{
	Name: "with a schedule that never comes have no effect",
	Known: []e2e.Known{{
		Releases: ">=1.0.0 <=1.15.0", // seen in v1.14.3 and v1.15.0; the source is the same in v1.0.8
		Issue:    e2e.Finding("karpenter-schedules-that-never-come"),
		Reason:   "the next time of a schedule that has none is year 1, which is taken for a window that is open",
		Breaks:   []string{"^waited for 1 pod"},
	}},
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().BudgetDuring(fixtures.WindowNever(), "0")
		app := fixtures.Deployment(1).On(pool)
		env.Launch(ctx, 1, pool, app)

		before := env.Mark()
		env.Change(ctx, pool.NewTemplate())
		env.Await(ctx, 1, check.RunningPods(app).On(check.ReplacedNodes(pool, before)))

		drifted := check.DriftedNodeClaims(pool).Old(before)
		env.Expect(env.Since(before), check.LeadsTo(check.AtLeast(1, drifted), check.None(drifted)))
	},
})
