package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A NodePool keeps its limit of nodes within one batch too. A Deployment scaled from zero
// to ten is the ordinary way to reach a limit.
//
// Source: spec.limits.nodes of the NodePool API.
var _ = Suite.Add(e2e.Spec{
	Name:  "never exceeds a limit of nodes within one batch",
	Since: e2e.Since{Karpenter: karpenter.NodeLimitsSince},
	Known: []e2e.Known{{
		Releases: ">=1.11.2 <=1.15.0", // seen in v1.11.2, v1.12.1, v1.13.0, v1.14.1, v1.14.3, v1.15.0
		Issue:    "https://github.com/kubernetes-sigs/karpenter/issues/2915",
		Reason:   "nodes are not counted while a batch is being scheduled: ten pods get ten nodes where three are allowed",
		Breaks:   []string{"^always at most 3 NodeClaims", "limits of NodePools are never exceeded"},
		Explored: `limits:\n( +(cpu|memory): .*\n)* +nodes: `,
	}},
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().Limit("nodes", "3")
		app := fixtures.Deployment(10).On(pool).OnePodPerNode()

		before := env.Mark()
		env.Create(ctx, pool, app)
		env.AwaitAtLeast(ctx, 3, check.RunningPods(app))
		env.Observe(ctx, karpenter.Settled)

		env.Expect(env.Since(before), check.Always(check.AtMost(3, check.NodeClaims(pool))))
	},
})
