package consolidation

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Nodes that go together are underutilized, like a single node that is replaced. So a budget for
// that reason is the one that allowed it, and the NodeClaims say so.
//
// Source: condition DisruptionReason of the NodeClaim API;
// designs/disruption-controls-by-reason.md.
var _ = Suite.Add(e2e.Spec{
	Name:  "says of several nodes that go in one step that they are underutilized",
	Since: e2e.Since{Karpenter: "1.5"},
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().OnDemand().Consolidate(fixtures.WhenEmptyOrUnderutilized)
		one, two, app := launchLargeNodes(ctx, env, pool)

		before := env.Mark()
		env.Delete(ctx, one, two)
		env.Await(ctx, 2, check.DisruptedNodes(pool))
		env.Await(ctx, 1, check.RunningPods(app).On(check.ReplacedNodes(pool, before)))
		env.Await(ctx, 0, check.Nodes(pool).Old(before))

		env.Expect(env.Since(before), check.GoesFor(fixtures.Underutilized, pool))
	},
})
