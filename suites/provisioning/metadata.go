package provisioning

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Nodes have the labels and annotations of their pool's template as soon as they are
// registered. Pods select nodes by them, and agents read them at start.
//
// Source: spec.template.metadata of the NodePool API.
var _ = Suite.Add(e2e.Spec{
	Name: "puts the template's labels and annotations on its nodes",
	Run: func(ctx context.Context, env *e2e.Env) {
		team, owner := fixtures.Key("team"), fixtures.Key("owner")
		pool := fixtures.NodePool().Label(team, "red").Annotation(owner, "blue")
		app := fixtures.Deployment(1).On(pool)

		before := env.Mark()
		env.Create(ctx, pool, app)
		env.Await(ctx, 1, check.RunningPods(app))

		env.Await(ctx, 1, labeledNodes(pool, team, "red"))

		registered := check.RegisteredNodes(pool)
		env.Expect(env.Since(before), check.Always(check.Each(registered, "have the template's label and annotation",
			func(node *unstructured.Unstructured) bool {
				return node.GetLabels()[team] == "red" && node.GetAnnotations()[owner] == "blue"
			})))
	},
})
