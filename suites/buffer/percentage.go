package buffer

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A buffer with a percentage grows with its workload, because larger workloads have
// larger bursts. Here 50% is room for one pod beside two, then for two beside four.
//
// Source: spec.percentage of the CapacityBuffer API; Karpenter's regression suite,
// "should handle scalableRef percentage update when deployment scales".
var _ = Suite.Add(e2e.Spec{
	Name:  "grows with its workload by its percentage",
	Known: sharedNode,
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app := fixtures.Deployment(2).OnePodPerNode().On(pool)
		env.Create(ctx, pool, app, fixtures.CapacityBuffer(app).Percentage(50))
		env.Await(ctx, 3, check.InitializedNodeClaims(pool))
		env.Await(ctx, 2, check.RunningPods(app))

		before := env.Mark()
		env.Change(ctx, app.Replicas(4))
		env.Await(ctx, 6, check.InitializedNodeClaims(pool))
		env.Observe(ctx, karpenter.Settled)

		env.Expect(env.Since(before),
			check.Always(check.AtMost(6, check.NodeClaims(pool))),
			check.Within(filled,
				check.LeadsTo(check.AtLeast(4, check.RunningPods(app)), check.Exactly(6, check.ReadyNodes(pool)))))
	},
})
