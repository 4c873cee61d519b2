package budgets

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// A budget that is lowered while Karpenter thinks a disruption over is heeded: the brake
// works up to the moment at which a node is chosen for good. The empty nodes of both
// pools are on the way out when one of the pools gets a budget of zero.
//
// Source: designs/disruption-controls.md; spec.disruption.budgets[].nodes.
var _ = Suite.Add(e2e.Spec{
	Name:  "can be lowered while a disruption is being thought over",
	Needs: []providers.Capability{providers.NodePools},
	Run: func(ctx context.Context, env *e2e.Env) {
		// Karpenter looks for empty nodes every 10 s, and takes 15 s to decide.
		const considered = 12 * time.Second
		held, free := fixtures.NodePool(), fixtures.NodePool()
		holding, freely := fixtures.Deployment(1).On(held), fixtures.Deployment(1).On(free)
		env.Create(ctx, held, free, holding, freely)
		env.Await(ctx, 1, check.RunningPods(holding))
		env.Await(ctx, 1, check.RunningPods(freely))

		before := env.Now()
		env.Delete(ctx, holding, freely)
		env.Watch(ctx, rested)
		env.Change(ctx, removesEmpty(held), removesEmpty(free))
		env.Watch(ctx, considered)
		env.Change(ctx, held.Budget("0"))
		env.Await(ctx, 0, check.Nodes(free))

		env.Expect(env.Since(before),
			check.Always(check.None(check.DisruptedNodes(held))),
			check.LeadsTo(check.AtLeast(1, check.DisruptedNodes(free)), check.None(check.Nodes(free))))
	},
})
