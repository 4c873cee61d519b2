package controls

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// If a pool's template says do-not-disrupt, every node of the pool has the annotation
// from its launch. The nodes stay when they drift. Users set a pool apart this way for
// work that must never move. They can release its nodes one by one. Here another pool
// drifts meanwhile.
//
// Source: spec.template.metadata.annotations of the NodePool API;
// https://karpenter.sh/docs/concepts/disruption, "Node-Level Controls".
var _ = Suite.Add(e2e.Spec{
	Name: "keep the drifted nodes of a pool whose template says do-not-disrupt",
	Run: func(ctx context.Context, env *e2e.Env) {
		guarded, free := fixtures.NodePool().Annotation(karpenter.DoNotDisruptAnnotation, "true"), fixtures.NodePool()
		staying, leaving := fixtures.Deployment(1).On(guarded), fixtures.Deployment(1).On(free)
		protected := env.Launch(ctx, 1, guarded, staying)[0]
		env.Launch(ctx, 1, free, leaving)

		before := env.Mark()
		env.Change(ctx, guarded.NewTemplate())
		env.Await(ctx, 1, check.DriftedNodeClaims(guarded))
		env.Change(ctx, free.NewTemplate())
		env.Await(ctx, 1, check.RunningPods(leaving).On(check.ReplacedNodes(free, before)))
		env.Await(ctx, 0, check.Nodes(free).Old(before))
		env.Expect(env.Since(before), check.HoldsDriftBack(guarded), check.ActsOnDrift(free))

		env.RemoveAnnotation(ctx, protected, karpenter.DoNotDisruptAnnotation)
		env.Await(ctx, 1, check.RunningPods(staying).On(check.ReplacedNodes(guarded, before)))
	},
})
