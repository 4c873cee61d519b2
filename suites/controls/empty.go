package controls

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter doesn't remove an empty node until its do-not-disrupt annotation is removed.
// Users may still examine such a node, or warm it up for later pods. Here Karpenter
// removes an empty node of another pool meanwhile.
//
// Source: annotation karpenter.sh/do-not-disrupt;
// https://karpenter.sh/docs/concepts/disruption, "Node-Level Controls".
var _ = Suite.Add(e2e.Spec{
	Name: "keep an empty node while it has the annotation do-not-disrupt",
	Run: func(ctx context.Context, env *e2e.Env) {
		guarded := fixtures.NodePool().Consolidate(fixtures.WhenEmpty)
		free := fixtures.NodePool().Consolidate(fixtures.WhenEmpty)
		first, second := fixtures.Deployment(1).On(guarded), fixtures.Deployment(1).On(free)
		protected := env.Launch(ctx, 1, guarded, first)[0]
		env.Launch(ctx, 1, free, second)
		env.Annotate(ctx, protected, karpenter.DoNotDisruptAnnotation, "true")

		before := env.Mark()
		env.Change(ctx, first.Replicas(0))
		env.Await(ctx, 0, check.PodsOf(first))
		env.Change(ctx, second.Replicas(0))
		env.Await(ctx, 0, check.Nodes(free))
		env.Expect(env.Since(before), keepsEmptyNodes(guarded, first),
			check.LeadsTo(check.None(check.PodsOf(second)), check.None(check.Nodes(free))))

		env.RemoveAnnotation(ctx, protected, karpenter.DoNotDisruptAnnotation)
		env.Await(ctx, 0, check.Nodes(guarded))
	},
})

// keepsEmptyNodes checks that no node of a pool is disrupted while the workload has no pods and a
// NodeClaim is Consolidatable.
func keepsEmptyNodes(pool *fixtures.Pool, app *fixtures.Workload) check.Check {
	return check.Always(check.When(
		check.AllOf(check.None(check.PodsOf(app)), check.AtLeast(1, check.NodeClaims(pool).In(karpenter.Consolidatable))),
		check.None(check.DisruptedNodes(pool))))
}
