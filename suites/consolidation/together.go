package consolidation

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter removes a node only if the other nodes have room for all of its pods together.
// Room for each of them alone isn't enough: one pod would take it, and the other would wait
// for a new node. Here the first node has room for one of the second node's two pods.
//
// Source: https://karpenter.sh/docs/concepts/disruption, "Consolidation".
var _ = Suite.Add(e2e.Spec{
	Name: "keeps a node if there is room for each of its pods but not for all of them",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().Consolidate(fixtures.WhenEmptyOrUnderutilized)
		app := fixtures.Deployment(1).On(pool).CPU("1")
		first, second := fixtures.Pod().On(pool).HostPort(port), fixtures.Pod().On(pool).HostPort(otherPort)
		env.Create(ctx, pool, app, first, second)
		env.Await(ctx, 1, check.RunningPods(app))
		env.Await(ctx, 1, check.RunningPods(first))
		env.Await(ctx, 1, check.RunningPods(second))
		share := fixtures.MostCPUs(env.Await(ctx, 1, check.ReadyNodes(pool))[0].Unstructured(), "1")
		one := fixtures.Deployment(1).On(pool).CPU(share).HostPort(port)
		other := fixtures.Deployment(1).On(pool).CPU(share).HostPort(otherPort)
		env.Create(ctx, one, other)
		env.Await(ctx, 1, check.RunningPods(one))
		env.Await(ctx, 1, check.RunningPods(other))
		env.Observe(ctx, karpenter.NominationOver)

		env.Delete(ctx, first, second)
		after := env.Observe(ctx, karpenter.ConsolidationBegun+karpenter.ConsolidationDecided+karpenter.DrainPolled)

		room := check.AllOf(check.None(check.PodsOf(first)), check.None(check.PodsOf(second)))
		env.Expect(after,
			check.Always(check.When(room, check.None(check.UnschedulablePods(one).AmongObjects(check.PodsOf(one))))),
			check.Always(check.When(room, check.None(check.UnschedulablePods(other).AmongObjects(check.PodsOf(other))))))
	},
})
