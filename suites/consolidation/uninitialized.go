package consolidation

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter does not consolidate a node before it is initialized, even if it is empty.
// Initialization may take longer than a pod lives. A node removed while it starts would
// be launched again for the next pod. Here the node is removed once it is initialized.
// Another pool's node, without startup taints, is removed earlier.
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
		env.RemoveTaint(ctx, starting, node)
		env.Await(ctx, 0, check.Nodes(held))

		env.Expect(env.Since(before),
			check.While(waiting,
				check.AllOf(check.None(check.DisruptedNodes(held)),
					check.None(check.NodeClaims(held).In(karpenter.Consolidatable)))),
			check.LeadsTo(check.AtLeast(1, check.DisruptedNodes(free)), check.None(check.Nodes(free))))
	},
})
