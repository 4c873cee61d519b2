package consolidation

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A NodeClaim shows the reason for which its node is disrupted, in the words that budgets
// use for reasons. So users need not guess which budget allowed the disruption.
//
// Source: condition DisruptionReason of the NodeClaim API;
// designs/disruption-controls-by-reason.md.
var _ = Suite.Add(e2e.Spec{
	Name:  "says whether a node goes because it is empty or underutilized",
	Since: e2e.Since{Karpenter: "1.5"},
	Run: func(ctx context.Context, env *e2e.Env) {
		idle := fixtures.NodePool().Consolidate(fixtures.WhenEmptyOrUnderutilized)
		loose := fixtures.NodePool().OnDemand().Consolidate(fixtures.WhenEmptyOrUnderutilized)
		last, app := fixtures.Deployment(1).On(idle), fixtures.Deployment(1).On(loose)
		large := fixtures.Deployment(1).On(loose).CPU("3")
		env.Create(ctx, idle, loose, last, large)
		env.Await(ctx, 1, check.RunningPods(last))
		env.Await(ctx, 1, check.RunningPods(large))
		env.Create(ctx, app)
		env.Await(ctx, 1, check.RunningPods(app))

		before := env.Mark()
		env.Delete(ctx, last, large)
		env.Await(ctx, 0, check.Nodes(idle))
		env.Await(ctx, 1, check.RunningPods(app).On(check.ReplacedNodes(loose, before)))
		env.Await(ctx, 0, check.Nodes(loose).Old(before))

		env.Expect(env.Since(before), check.GoesFor(fixtures.Empty, idle), check.GoesFor(fixtures.Underutilized, loose))
	},
})
