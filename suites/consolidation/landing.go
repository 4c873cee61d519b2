package consolidation

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter keeps an empty node that it is about to remove if a pod is scheduled to it in
// time. Otherwise the pod would be evicted as soon as it runs. Another pool's empty node,
// chosen at the same time, is removed.
//
// Source: https://karpenter.sh/docs/concepts/disruption, "Consolidation";
// spec.disruption.consolidationPolicy of the NodePool API.
var _ = Suite.Add(e2e.Spec{
	Name: "keeps an empty node on which a pod is scheduled in time",
	Run: func(ctx context.Context, env *e2e.Env) {
		kept, free := fixtures.NodePool(), fixtures.NodePool()
		keeping, freely := fixtures.Deployment(1).On(kept), fixtures.Deployment(1).On(free)
		landing := fixtures.Deployment(1).On(kept)
		env.Create(ctx, kept, free, keeping, freely)
		env.Await(ctx, 1, check.RunningPods(keeping))
		env.Await(ctx, 1, check.RunningPods(freely))

		before := env.Mark()
		env.Delete(ctx, keeping, freely)
		env.Observe(ctx, karpenter.NominationOver)
		env.Change(ctx, kept.Consolidate(fixtures.WhenEmpty), free.Consolidate(fixtures.WhenEmpty))
		env.Observe(ctx, karpenter.ConsolidationBegun)
		env.Create(ctx, landing)
		env.Await(ctx, 0, check.Nodes(free))

		landed := check.AllOf(check.None(check.RunningPods(keeping)), check.AtLeast(1, check.RunningPods(landing)))
		env.Expect(env.Since(before),
			check.Always(check.When(landed, check.None(check.DisruptedNodes(kept)))),
			check.LeadsTo(check.AtLeast(1, check.DisruptedNodes(free)), check.None(check.Nodes(free))))
	},
})
