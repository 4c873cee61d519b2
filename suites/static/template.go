package static

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A static pool creates its nodes from its template, as other pools do for pods. Each
// node has the template's labels, annotations and taints. Nodes come before pods, so a
// mistake shows only when pods don't fit.
//
// Source: spec.template of the NodePool API; Karpenter's regression suite, "should create
// static NodeClaim propagating all the NodePool spec details".
var _ = Suite.Add(e2e.Spec{
	Name: "makes its nodes from its template",
	Run: func(ctx context.Context, env *e2e.Env) {
		key, kept := fixtures.Key("team"), fixtures.Key("kept")
		pool := fixtures.NodePool().Replicas(2).Label(key, "labelled").Annotation(key, "annotated").
			Taint(kept, fixtures.NoSchedule)

		before := env.Mark()
		env.Create(ctx, pool)
		env.Await(ctx, 2, check.InitializedNodeClaims(pool))

		env.Expect(env.Since(before),
			check.Always(check.Each(check.RegisteredNodes(pool), "have the label", check.Labeled(key, "labelled"))),
			check.Always(check.Each(check.RegisteredNodes(pool), "have the annotation", check.Annotated(key, "annotated"))),
			check.Always(check.Each(check.RegisteredNodes(pool), "have the taint", check.Tainted(kept))))
		removeNodes(ctx, env, pool)
	},
})
