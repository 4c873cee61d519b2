package consolidation

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A node that isn't initialized is left alone, however empty it is: what it waits for
// may take longer than a pod's life, and a node that is removed while it starts will be
// launched for the next pod again. It goes once it is initialized; that of another pool,
// which had nothing to wait for, goes before.
//
// Source: condition Consolidatable of the NodeClaim API, which needs Initialized;
// spec.template.spec.startupTaints.
var _ = Suite.Add(e2e.Spec{
	Name: "leaves an empty node alone until it is initialized",
	Run: func(ctx context.Context, env *e2e.Env) {
		starting := fixtures.Key("starting")
		held, free := fixtures.NodePool().StartupTaint(starting, fixtures.NoSchedule), fixtures.NodePool()
		holding, freely := fixtures.Deployment(1).On(held), fixtures.Deployment(1).On(free)
		waiting := check.StartingNodes(held, starting)
		env.Create(ctx, held, free, holding, freely)
		node := env.Await(ctx, 1, waiting)[0]
		env.Await(ctx, 1, check.RunningPods(freely))

		before := env.Mark()
		env.Delete(ctx, holding, freely)
		env.Observe(ctx, karpenter.NominationOver)
		env.Change(ctx, held.Consolidate(fixtures.WhenEmpty), free.Consolidate(fixtures.WhenEmpty))
		env.Await(ctx, 1, check.DisruptedNodes(free))
		env.Observe(ctx, karpenter.ConsolidationDecided)
		env.Patch(ctx, node, `{"spec":{"taints":null}}`)
		env.Await(ctx, 0, check.Nodes(held))

		env.Expect(env.Since(before),
			check.While(waiting,
				check.AllOf(check.None(check.DisruptedNodes(held)),
					check.None(check.NodeClaims(held).In(karpenter.Consolidatable)))),
			check.LeadsTo(check.AtLeast(1, check.DisruptedNodes(free)), check.None(check.Nodes(free))))
	},
})
