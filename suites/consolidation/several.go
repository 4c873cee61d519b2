package consolidation

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter replaces several underutilized nodes with a single node in one step, not one
// by one. So their pods are moved once, and the room for them is paid once. Two nodes for
// pods of three CPUs become one for the remaining pods.
//
// Source: https://karpenter.sh/docs/concepts/disruption, "Consolidation",
// multi-node consolidation.
var _ = Suite.Add(e2e.Spec{
	Name: "replaces several nodes by one in one step",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().OnDemand().Consolidate(fixtures.WhenEmptyOrUnderutilized)
		one, two, app := launchLargeNodes(ctx, env, pool)

		before := env.Mark()
		env.Delete(ctx, one, two)
		env.Await(ctx, 1, check.RunningPods(app).On(check.ReplacedNodes(pool, before)))
		env.Await(ctx, 0, check.Nodes(pool).Old(before))

		env.Expect(env.Since(before), check.Always(check.AtMost(1, check.NodeClaims(pool).New(before))))
		env.ExpectUndisturbed(env.Since(before), check.Within(karpenter.MinDrain,
			check.LeadsTo(check.AtLeast(1, check.DisruptedNodes(pool)), check.Exactly(2, check.DisruptedNodes(pool)))))
	},
})
