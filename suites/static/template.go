package static

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

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
	Name:  "makes its nodes from its template",
	Needs: needs(),
	Gate:  gate,
	Since: e2e.Since{Karpenter: "1.8"},
	Run: func(ctx context.Context, env *e2e.Env) {
		key, kept := fixtures.Key("team"), fixtures.Key("kept")
		pool := static(2).Label(key, "labelled").Annotation(key, "annotated").Taint(kept, fixtures.NoSchedule)

		before := env.Now()
		env.Create(ctx, pool)
		env.Await(ctx, 2, check.InitializedClaims(pool))

		env.Expect(env.Since(before),
			check.Always(check.Each(registered(pool), "have the label", check.Labeled(key, "labelled"))),
			check.Always(check.Each(registered(pool), "have the annotation", func(node *unstructured.Unstructured) bool {
				return node.GetAnnotations()[key] == "annotated"
			})),
			check.Always(check.Each(registered(pool), "have the taint", check.Tainted(kept))))
		retire(ctx, env, pool)
	},
})
