package controls

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Since v1, Karpenter ignores the annotations of its alpha: do-not-evict on pods and
// do-not-consolidate on nodes. Users of old manifests know that only do-not-disrupt
// protects. Here Karpenter removes an empty node with such an annotation, and with a
// daemon that has it.
//
// Source: designs/v1-api.md, "karpenter.sh/do-not-consolidate" and
// "karpenter.sh/do-not-evict".
var _ = e2e.Table(Suite, map[string]string{
	"do-not-evict":       "do-not-evict",
	"do-not-consolidate": "do-not-consolidate",
}, func(annotation string) e2e.Spec {
	return e2e.Spec{
		Name:   "don't include the removed annotation " + annotation,
		Within: within,
		Run: func(ctx context.Context, env *e2e.Env) {
			key := karpenter.Group + "/" + annotation
			pool := fixtures.NodePool().Consolidate(fixtures.WhenEmpty).Annotation(key, "true")
			app, daemon := fixtures.Deployment(1).On(pool), fixtures.DaemonSet().On(pool).Annotate(key, "true")
			env.Create(ctx, daemon)
			env.Launch(ctx, 1, pool, app)
			env.Await(ctx, 1, check.RunningPods(daemon))

			before := env.Mark()
			env.Change(ctx, app.Replicas(0))
			env.Await(ctx, 0, check.Nodes(pool))

			annotated := check.Annotated(key, "true")
			env.Expect(env.Since(before), check.LeadsTo(
				check.AllOf(check.None(check.PodsOf(app)),
					check.AtLeast(1, check.Nodes(pool).With("with the annotation", annotated)),
					check.AtLeast(1, check.PodsOf(daemon).With("with the annotation", annotated))),
				check.None(check.Nodes(pool))))
		},
	}
})
