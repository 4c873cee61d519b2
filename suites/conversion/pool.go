package conversion

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A NodePool that was written as v1beta1 says the same in v1, and in v1beta1 after any client has
// written it in either version. Users upgrade to 1.0 with the pools that they have: each field
// decides which nodes they get, and which of them are disrupted.
//
// Source: "Changes to the API" in designs/v1-api.md; NodePool.ConvertFrom and ConvertTo in
// pkg/apis/v1/nodepool_conversion.go.
var _ = e2e.Table(Suite, map[string]fields{
	"defaults": {
		name:    "gives a v1beta1 pool that says nothing the defaults that it had",
		written: map[string]string{},
		read: map[string]string{
			"spec.disruption": "{consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 0s, " +
				"budgets: [{nodes: 10%}], expireAfter: null}",
			"spec.template.spec.expireAfter": "720h",
		},
	},
	"template":     both("keeps the labels and annotations of a v1beta1 pool's nodes", template()),
	"taints":       both("keeps the taints of a v1beta1 pool's nodes", taints("spec.template.spec.")),
	"requirements": both("keeps the requirements of a v1beta1 pool", requirements("spec.template.spec.")),
	"limits":       both("keeps the limits and the weight of a v1beta1 pool", limits()),
	"budgets":      both("keeps the budgets of a v1beta1 pool", budgets()),
	"empty": both("keeps when a v1beta1 pool consolidates empty nodes",
		disruption("{consolidationPolicy: WhenEmpty, consolidateAfter: 5m}")),
	"empty-never": both("keeps that a v1beta1 pool never consolidates empty nodes",
		disruption("{consolidationPolicy: WhenEmpty, consolidateAfter: Never}")),
	"underutilized": {
		name:    "lets a v1beta1 pool consolidate underutilized nodes at once",
		written: disruption("{consolidationPolicy: WhenUnderutilized}"),
		read:    disruption("{consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 0s}"),
	},
	"never": {
		name:    "keeps that a v1beta1 pool never consolidates",
		written: disruption("{consolidationPolicy: WhenUnderutilized, consolidateAfter: Never}"),
		read:    disruption("{consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: Never}"),
		known: lossy("consolidateAfter becomes 0s with WhenUnderutilized, although it may be Never",
			`consolidateAfter is "0s"; wanted is "Never"`),
	},
	"expire-after": {
		name:    "moves a v1beta1 pool's expireAfter into its template",
		written: map[string]string{"spec.disruption.expireAfter": "12h"},
		read:    map[string]string{"spec.disruption.expireAfter": "null", "spec.template.spec.expireAfter": "12h"},
	},
	"expire-never": {
		name:    "keeps that a v1beta1 pool's nodes never expire",
		written: map[string]string{"spec.disruption.expireAfter": "Never"},
		read:    map[string]string{"spec.disruption.expireAfter": "null", "spec.template.spec.expireAfter": "Never"},
	},
	"no-budgets": {
		name:    "keeps that a v1beta1 pool has no budgets",
		written: map[string]string{"spec.disruption.budgets": "[]"}, read: map[string]string{"spec.disruption.budgets": "[]"},
		known: lossy("an empty list is left out, and the default, 10%, takes its place",
			`budgets is \[{"nodes":"10%"}\]; wanted is \[\]`),
	},
	"kubelet": kubelet("keeps the kubelet settings of a v1beta1 pool in an annotation", "spec.template.spec."),
}, func(row fields) e2e.Spec {
	return e2e.Spec{Name: row.name, Known: row.known, Run: func(ctx context.Context, env *e2e.Env) {
		pool := with(fixtures.RawNodePool().V1Beta1(), row.written)
		roundTrip(ctx, env, pool, with(fixtures.RawNodePool().Called(pool), row.read))
	}}
})
