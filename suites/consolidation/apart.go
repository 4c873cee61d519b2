package consolidation

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter keeps a node if its pods cannot use the room on other nodes. Their
// requirements for nodes and for each other count as in scheduling. Here pods that
// exclude each other keep their two nodes, while another pool's two nodes become one.
//
// Source: https://karpenter.sh/docs/concepts/disruption, "Consolidation": nodes are
// removed if their pods can run on others.
var _ = Suite.Add(e2e.Spec{
	Name: "keeps the nodes of pods that exclude each other",
	Run: func(ctx context.Context, env *e2e.Env) {
		keepApart(ctx, env, (*fixtures.Workload).OnePodPerNode)
	},
})

// keepApart checks that two pods keep their nodes if they are kept apart, while another pool's two nodes become one.
// Other pods launch the nodes: two that only prefer to be apart may both be bound to the first node that is ready.
func keepApart(ctx context.Context, env *e2e.Env, apart func(*fixtures.Workload) *fixtures.Workload) {
	held := fixtures.NodePool().Consolidate(fixtures.WhenEmptyOrUnderutilized)
	free := fixtures.NodePool().Consolidate(fixtures.WhenEmptyOrUnderutilized)
	keeping, app := apart(fixtures.Deployment(2).On(held)), fixtures.Deployment(1).On(free)
	spacer := fixtures.Deployment(2).OnePodPerNode().On(held)
	first, second := fixtures.Pod().On(free).HostPort(port), fixtures.Deployment(1).On(free).HostPort(port)
	env.Create(ctx, held, free, spacer, app, first)
	env.Await(ctx, 2, check.RunningPods(spacer))
	env.Await(ctx, 1, check.RunningPods(app))
	env.Await(ctx, 1, check.RunningPods(first))
	env.Await(ctx, 2, check.ReadyNodes(held))
	env.Create(ctx, keeping, second)
	env.Await(ctx, 2, check.RunningPods(keeping))
	env.Await(ctx, 1, check.RunningPods(second))
	env.Observe(ctx, karpenter.NominationOver)

	before := env.Mark()
	env.Delete(ctx, first, spacer)
	env.Await(ctx, 1, check.DisruptedNodes(free))
	env.Observe(ctx, karpenter.ConsolidationDecided)
	env.Await(ctx, 1, check.Nodes(free))

	env.Expect(env.Since(before),
		check.Always(check.When(check.None(check.PodsOf(first)), neverDisrupted(keeping, held))),
		check.LeadsTo(check.AtLeast(1, check.DisruptedNodes(free)), check.Exactly(1, check.Nodes(free))))
}
