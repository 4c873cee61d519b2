package api

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// unsaid is a field that a pool leaves out, and its default.
type unsaid struct {
	name, since string
	pool        func() *fixtures.Raw
	path        string
	is          any
}

// A NodePool shows the defaults of omitted fields. They decide how many nodes may be
// disrupted at once, which are consolidated and how soon, and how old they get. Other
// defaults would change users' nodes at the upgrade.
//
// Source: defaults of spec.disruption and expireAfter in the NodePool API;
// designs/disruption-controls.md.
var _ = e2e.Table(Suite, map[string]unsaid{
	"budgets": {
		name: "lets a tenth of a pool's nodes be disrupted at once, if the pool doesn't say otherwise",
		pool: fixtures.RawNodePool, path: "spec.disruption.budgets", is: []any{map[string]any{"nodes": "10%"}},
	},
	"budget-nodes": {
		name: "lets a tenth of the nodes be disrupted by a budget that doesn't say how many", path: "spec.disruption.budgets",
		pool: func() *fixtures.Raw {
			return fixtures.RawNodePool().Write("spec.disruption", "{consolidateAfter: 0s, budgets: [{reasons: [Empty]}]}")
		},
		is: []any{map[string]any{"nodes": "10%", "reasons": []any{"Empty"}}},
	},
	"consolidation-policy": {
		name: "consolidates nodes that are empty or underutilized, if the pool doesn't say otherwise",
		pool: fixtures.RawNodePool, path: "spec.disruption.consolidationPolicy", is: "WhenEmptyOrUnderutilized",
	},
	"disruption": {
		name: "consolidates at once, if the pool says nothing of its disruption",
		pool: fixtures.RawNodePool, path: "spec.disruption.consolidateAfter", is: "0s",
	},
	"consolidate-after": {
		name: "consolidates at once, if the pool doesn't say when", since: "1.15", path: "spec.disruption.consolidateAfter",
		pool: func() *fixtures.Raw {
			return fixtures.RawNodePool().Write("spec.disruption.consolidationPolicy", "WhenEmpty")
		},
		is: "0s",
	},
	"expire-after": {
		name: "lets nodes live for 30 days, if the pool doesn't say otherwise",
		pool: fixtures.RawNodePool, path: "spec.template.spec.expireAfter", is: "720h",
	},
}, func(row unsaid) e2e.Spec {
	return e2e.Spec{Name: row.name, Since: e2e.Since{Karpenter: row.since}, Run: func(ctx context.Context, env *e2e.Env) {
		pool := row.pool()
		before := env.Mark()
		env.Create(ctx, pool)
		env.Expect(env.Since(before),
			check.Always(check.Each(check.The(pool), "say so in "+row.path, hasValue(row.path, row.is))))
	}}
})

// hasValue tells whether an object has a value at a dot-separated path.
func hasValue(path string, value any) check.Predicate {
	return func(o *unstructured.Unstructured) bool {
		got, _, _ := unstructured.NestedFieldNoCopy(o.Object, strings.Split(path, ".")...)
		return equality.Semantic.DeepEqual(got, value)
	}
}
