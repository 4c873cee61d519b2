package buffer

import (
	"context"
	"slices"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Consolidation removes all nodes of a deleted buffer. Nobody needs these nodes any more,
// and only their removal ends the cost.
//
// Source: designs/capacity-buffers.md;
// https://github.com/kubernetes-sigs/karpenter/issues/3258; Karpenter's
// regression suite, "should consolidate buffer nodes after buffer is deleted".
var _ = Suite.Add(e2e.Spec{
	Name: "releases all of its nodes when it is deleted",
	Known: append(slices.Clone(sharedNode), e2e.Known{
		Releases: ">=1.14.1 <1.15.0",
		Issue:    "https://github.com/kubernetes-sigs/karpenter/issues/3258",
		Reason:   "a buffer's nodes are taken for its own until something else makes pods be scheduled",
		Breaks:   []string{"^waited for 0 nodes"},
	}),
	Run: func(ctx context.Context, env *e2e.Env) {
		pool, other := fixtures.NodePool().ConsolidationPolicy(fixtures.WhenEmpty), fixtures.NodePool()
		passing := fixtures.Deployment(1).On(other)
		app := fixtures.Deployment(0).OnePodPerNode().On(pool)
		buffer := fixtures.CapacityBuffer(app).Pods(2)
		env.Create(ctx, pool, other, app, buffer)
		env.Await(ctx, 2, check.InitializedNodeClaims(pool))
		env.Create(ctx, passing) // as it schedules pods, Karpenter counts which nodes a buffer has
		env.Await(ctx, 1, check.RunningPods(passing))

		before := env.Mark()
		env.Change(ctx, pool.ConsolidateAfter("0s"))
		env.Delete(ctx, buffer)
		env.Await(ctx, 0, check.Nodes(pool))

		env.Expect(env.Since(before),
			check.LeadsTo(check.AtLeast(1, check.DisruptedNodes(pool)), check.None(check.Nodes(pool))),
			check.Always(check.When(check.None(check.The(buffer)), check.None(check.NodeClaims(pool).New(before)))))
	},
})
