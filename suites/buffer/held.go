package buffer

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A filled buffer keeps its nodes, although they are empty and the NodePool's policy
// removes empty nodes. Here another NodePool without a buffer loses its nodes.
//
// Source: designs/capacity-buffers.md, "Emptiness protection"; Karpenter's regression
// suite, "should not empty-consolidate nodes hosting buffer pods".
var _ = Suite.Add(e2e.Spec{
	Name:   "keeps its nodes though they are empty",
	Known:  sharedNode,
	Within: 3 * time.Minute,
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().ConsolidationPolicy(fixtures.WhenEmpty)
		other := fixtures.NodePool().Consolidate(fixtures.WhenEmpty)
		app, passing := fixtures.Deployment(0).OnePodPerNode().On(pool), fixtures.Deployment(1).On(other)
		env.Create(ctx, pool, other, app, fixtures.CapacityBuffer(app).Pods(2))
		env.Await(ctx, 2, check.InitializedNodeClaims(pool))
		env.Create(ctx, passing) // as it schedules pods, Karpenter counts which nodes a buffer has
		env.Await(ctx, 1, check.RunningPods(passing))

		before := env.Mark()
		env.Change(ctx, pool.ConsolidateAfter("0s"))
		env.Delete(ctx, passing)
		env.Await(ctx, 0, check.Nodes(other))
		env.Observe(ctx, karpenter.DisruptionPolled)

		env.Expect(env.Since(before),
			check.Always(check.None(check.DisruptedNodes(pool))),
			check.LeadsTo(check.AtLeast(1, check.DisruptedNodes(other)), check.None(check.Nodes(other))))
	},
})
