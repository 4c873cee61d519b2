package consolidation

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter removes an empty node although a pod waits that fits on none. It looks at such a pod
// again and again, and keeps for a while the nodes that pods are about to run on, but only those. One
// mistake in one Deployment must not keep all nodes of a cluster.
//
// Source: https://karpenter.sh/docs/concepts/disruption, "Consolidation"; Karpenter:
// pkg/controllers/provisioning/scheduling/scheduler.go, Record.
var _ = Suite.Add(e2e.Spec{
	Name: "removes an empty node although a pod waits that fits on none",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().Consolidate(fixtures.WhenEmpty)
		app, hopeless := fixtures.Deployment(1).On(pool), fixtures.Deployment(1).On(pool).CPU("100k")
		env.Create(ctx, pool, app, hopeless)
		env.Await(ctx, 1, check.RunningPods(app))
		env.Await(ctx, 1, check.ReadyNodes(pool))
		env.AwaitAtLeast(ctx, 1, check.Reports(karpenter.ReasonFailedScheduling, hopeless))
		env.Observe(ctx, karpenter.NominationOver)

		before := env.Mark()
		env.Delete(ctx, app)
		env.Await(ctx, 0, check.Nodes(pool))

		env.Expect(env.Since(before),
			check.While(check.DisruptedNodes(pool), check.Exactly(1, check.UnschedulablePods(hopeless))),
			check.LeadsTo(check.AtLeast(1, check.DisruptedNodes(pool)), check.None(check.Nodes(pool))))
	},
})
