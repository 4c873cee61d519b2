package controls

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// An empty node that somebody has annotated with do-not-disrupt isn't removed,
// while an empty one of another pool is, until the annotation is removed: what is
// looked into, or warmed up for what is to come, runs no pod yet or any more.
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
		env.Expect(env.Since(before), kept(guarded, first),
			check.LeadsTo(check.None(check.PodsOf(second)), check.None(check.Nodes(free))))

		env.RemoveAnnotation(ctx, protected, karpenter.DoNotDisruptAnnotation)
		env.Await(ctx, 0, check.Nodes(guarded))
	},
})

// kept checks that nodes of a pool ran nothing that would be missed, could have
// been consolidated, and were left alone.
func kept(pool *fixtures.Pool, app *fixtures.Workload) check.Check {
	return check.Always(check.When(
		check.AllOf(check.None(check.PodsOf(app)), check.AtLeast(1, check.NodeClaims(pool).In(karpenter.Consolidatable))),
		check.None(check.DisruptedNodes(pool))))
}
