package conversion

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A v1beta1 NodePool with resource requests is refused. The field came with the template of NodeClaims
// and means nothing in a pool, so v1 has none, and no conversion could keep it. Users learn it when
// they write it, and not from nodes that are smaller than they asked for.
//
// Source: "Removing resource.requests from NodePool Schema" in designs/v1-api.md.
var _ = Suite.Add(e2e.Spec{
	Name: "refuses v1beta1 pools with resource requests, which v1 has none of",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.RawNodePool().V1Beta1()
		env.Accepted(ctx, pool)
		env.Refused(ctx, "spec.template.spec.resources", pool.Write("spec.template.spec.resources.requests", "{cpu: 1}"))
	},
})
