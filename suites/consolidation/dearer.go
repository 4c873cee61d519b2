package consolidation

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter removes a node whose pods fit on another, although a node that would save more has to
// stay. It looks at the nodes that save most first, and goes on to the others. If it stopped at the
// first that can't go, one large node with large pods would keep all small ones. Here a pod of three
// CPUs has the cheapest node for it.
//
// Source: https://karpenter.sh/docs/concepts/disruption, "Consolidation", single node consolidation;
// designs/balanced-consolidation.md, by which nodes that save most for what they disrupt come first.
var _ = Suite.Add(e2e.Spec{
	Name: "removes a node although a dearer one that comes first has to stay",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().OnDemand().Consolidate(fixtures.WhenEmptyOrUnderutilized)
		staying, first := fixtures.Deployment(1).On(pool).CPU("3"), fixtures.Deployment(1).On(pool).HostPort(port)
		app := fixtures.Deployment(1).On(pool).HostPort(port)
		env.Create(ctx, pool, staying)
		env.Await(ctx, 1, check.RunningPods(staying))
		env.Create(ctx, first)
		env.Await(ctx, 1, check.RunningPods(first))
		env.Create(ctx, app)
		env.Await(ctx, 1, check.RunningPods(app))
		env.Observe(ctx, karpenter.NominationOver)

		before := env.Mark()
		env.Delete(ctx, first)
		env.Await(ctx, 1, check.DisruptedNodes(pool))
		env.Await(ctx, 1, check.Nodes(pool))
		env.Await(ctx, 1, check.RunningPods(app))

		env.Expect(env.Since(before),
			check.Always(neverDisrupted(staying, pool)),
			check.LeadsTo(check.AtLeast(1, check.DisruptedNodes(pool)), check.Exactly(1, check.Nodes(pool))))
	},
})
