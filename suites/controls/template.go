package controls

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// When the template of a pool says do-not-disrupt, every node of it has the
// annotation from its launch on and stays when it has drifted, while one of
// another pool goes: it is how a pool is set apart for work that is never to be
// moved. What was launched with it can be let go node by node.
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
