package provisioning

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// NodeClaims have the labels and annotations of their pool's template from the start.
// Billing and inventory read them there, because a node that never joins leaves nothing
// else.
//
// Source: spec.template.metadata of the NodePool API.
var _ = Suite.Add(e2e.Spec{
	Name: "puts the template's labels and annotations on its NodeClaims",
	Run: func(ctx context.Context, env *e2e.Env) {
		owner := fixtures.Key("owner")
		pool := fixtures.NodePool().Label(team, "red").Annotation(owner, "blue")
		app := fixtures.Deployment(1).On(pool)

		before := env.Mark()
		env.Create(ctx, pool, app)
		env.Await(ctx, 1, check.RunningPods(app))

		env.Expect(env.Since(before),
			check.Always(check.Each(check.NodeClaims(pool), "have the template's label and annotation",
				func(nodeClaim *unstructured.Unstructured) bool {
					return check.Labeled(team, "red")(nodeClaim) && check.Annotated(owner, "blue")(nodeClaim)
				})))
	},
})
