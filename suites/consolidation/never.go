package consolidation

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter keeps empty nodes if their pool has consolidateAfter Never. They are kept for
// future pods. Here Karpenter removes the empty nodes of another pool meanwhile.
//
// Source: spec.disruption.consolidateAfter of the NodePool API.
var _ = Suite.Add(e2e.Spec{
	Name: "keeps empty nodes while consolidateAfter is Never",
	Run: func(ctx context.Context, env *e2e.Env) {
		kept := fixtures.NodePool().ConsolidateAfter("Never")
		free := fixtures.NodePool().Consolidate(fixtures.WhenEmpty)
		keeping, freely := fixtures.Deployment(1).On(kept), fixtures.Deployment(1).On(free)
		env.Create(ctx, kept, free, keeping, freely)
		env.Await(ctx, 1, check.RunningPods(keeping))
		env.Await(ctx, 1, check.RunningPods(freely))
		env.Observe(ctx, karpenter.NominationOver)

		before := env.Mark()
		env.Delete(ctx, keeping, freely)
		env.Await(ctx, 1, check.DisruptedNodes(free))
		env.Observe(ctx, karpenter.ConsolidationDecided)
		env.Await(ctx, 0, check.Nodes(free))

		env.Expect(env.Since(before),
			check.Always(check.When(check.None(check.PodsOf(keeping)), check.None(check.DisruptedNodes(kept)))),
			check.LeadsTo(check.AtLeast(1, check.DisruptedNodes(free)), check.None(check.Nodes(free))))
	},
})
