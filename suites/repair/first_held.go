package repair

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// The replacement of an unhealthy node comes first also if the node's pod must not be disrupted.
// Karpenter ends such a pod after the grace period, and it then needs a place. If a replacement were
// launched for those pods alone that may be evicted, the one that matters most would wait for a node.
//
// Source: designs/making-node-repair-voluntary.md: repair "pre-spins a replacement before removing the
// node"; Karpenter: pkg/controllers/disruption/repair.go, "Repair pre-spins for all reschedulable
// workload, including pods whose eviction is currently blocked".
var _ = Suite.Add(e2e.Spec{
	Name:  "launches a replacement first although the pod must not be disrupted",
	Since: voluntary(),
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().TerminationGracePeriod(gracePeriod.String())
		app := deployment(1, pool).Annotate(karpenter.DoNotDisruptAnnotation, "true")
		nodes := env.Launch(ctx, 1, pool, app)

		before := env.Mark()
		env.MakeUnhealthy(ctx, nodes...)
		env.Await(ctx, 0, check.Nodes(pool).Old(before))
		env.Await(ctx, 1, check.RunningPods(app).New(before))

		env.Expect(env.Since(before),
			check.While(check.NodeClaims(pool).Deleting().Old(before),
				check.AtLeast(1, check.InitializedNodeClaims(pool).New(before))))
	},
})
