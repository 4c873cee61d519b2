package controls

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// The annotations of Karpenter's alpha, do-not-evict of pods and do-not-consolidate
// of nodes, are without effect since v1: a node that has them, with a daemon that
// has them, is removed when it is empty. Whoever finds them in old manifests can
// count on one word for this and no other.
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
