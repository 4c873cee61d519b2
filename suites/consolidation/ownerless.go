package consolidation

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter removes a node although its pod has no controller. The pod is evicted like
// any other, and nothing restarts it. Otherwise one forgotten pod would keep a node
// forever. A pod that must stay has do-not-disrupt, like the pod on the other node.
//
// Source: https://github.com/kubernetes-sigs/karpenter/pull/70.
var _ = Suite.Add(e2e.Spec{
	Name: "removes a node although its pod has no controller",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().Consolidate(fixtures.WhenEmptyOrUnderutilized)
		app := fixtures.Deployment(1).On(pool).Annotate(karpenter.DoNotDisruptAnnotation, "true")
		first, alone := fixtures.Deployment(1).On(pool).HostPort(port), fixtures.Pod().On(pool).HostPort(port)
		env.Create(ctx, pool, app, first)
		env.Await(ctx, 1, check.RunningPods(app))
		env.Await(ctx, 1, check.RunningPods(first))
		env.Create(ctx, alone)
		env.Await(ctx, 1, check.RunningPods(alone))
		env.Observe(ctx, karpenter.NominationOver)

		before := env.Mark()
		env.Delete(ctx, first)
		env.Await(ctx, 0, check.PodsOf(alone))
		env.Await(ctx, 1, check.Nodes(pool))

		room := check.AllOf(check.None(check.PodsOf(first)), check.AtLeast(1, check.RunningPods(alone)))
		env.Expect(env.Since(before),
			check.LeadsTo(room, check.AtLeast(1, check.RunningPods(alone).On(check.DisruptedNodes(pool)))),
			check.Always(check.When(check.None(check.PodsOf(first)), neverDisrupted(app, pool))))
	},
})
