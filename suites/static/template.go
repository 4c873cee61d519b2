package static

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// The nodes of a static pool are made from its template, as those that pods ask for: its
// labels, annotations and taints are on each. Nobody looks at a node that comes before its
// pods do, until they don't fit on it.
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
		retire(ctx, env, pool)
	},
})
