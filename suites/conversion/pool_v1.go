package conversion

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A NodePool that was written as v1 says the same in v1beta1, as far as that has the fields, and is
// unchanged after a client has written it as v1beta1. Pipelines, dashboards and old releases go on
// with v1beta1 for a while, and users who go back must find the pool that they had.
//
// Source: "Changes to the API" in designs/v1-api.md; NodePool.ConvertTo and ConvertFrom in
// pkg/apis/v1/nodepool_conversion.go.
var _ = e2e.Table(Suite, map[string]fields{
	"template":     both("keeps the labels and annotations of a v1 pool's nodes", template()),
	"taints":       both("keeps the taints of a v1 pool's nodes", taints("spec.template.spec.")),
	"requirements": both("keeps the requirements of a v1 pool", requirements("spec.template.spec.")),
	"limits":       both("keeps the limits and the weight of a v1 pool", limits()),
	"budgets":      both("keeps the budgets of a v1 pool", budgets()),
	"reasons": {
		name: "keeps the reasons of a v1 pool's budgets, which v1beta1 has none of",
		written: map[string]string{
			"spec.disruption": `{consolidateAfter: 0s, budgets: [{nodes: "0", reasons: [Drifted, Underutilized]}, ` +
				`{nodes: 50%, reasons: [Empty]}]}`,
		},
		read:  map[string]string{"spec.disruption.budgets": `[{nodes: "0", reasons: null}, {nodes: 50%, reasons: null}]`},
		known: lossy("a client that writes v1beta1 removes the reasons of budgets", `reasons is none; wanted is \["Drifted"`),
	},
	"empty": both("keeps when a v1 pool consolidates empty nodes",
		disruption("{consolidationPolicy: WhenEmpty, consolidateAfter: 5m}")),
	"underutilized": {
		name:    "keeps that a v1 pool consolidates underutilized nodes at once",
		written: disruption("{consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 0s}"),
		read:    disruption("{consolidationPolicy: WhenUnderutilized, consolidateAfter: null}"),
	},
	"consolidate-after": {
		name:    "keeps when a v1 pool consolidates underutilized nodes, which v1beta1 can't say",
		written: disruption("{consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 30m}"),
		read:    disruption("{consolidationPolicy: WhenUnderutilized, consolidateAfter: null}"),
		known: lossy("a client that writes v1beta1 sets consolidateAfter to 0s",
			`consolidateAfter is "0s"; wanted is "30m"`),
	},
	"never": {
		name:    "keeps that a v1 pool never consolidates",
		written: disruption("{consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: Never}"),
		read:    disruption("{consolidationPolicy: WhenUnderutilized, consolidateAfter: Never}"),
		known: lossy("consolidateAfter is left out with WhenUnderutilized, although it may be Never",
			`consolidateAfter is none; wanted is "Never"`),
	},
	"expire-after": {
		name:    "moves the expireAfter of a v1 pool's template into its disruption",
		written: map[string]string{"spec.template.spec.expireAfter": "12h"},
		read:    map[string]string{"spec.template.spec.expireAfter": "null", "spec.disruption.expireAfter": "12h"},
	},
	"termination-grace-period": {
		name:    "keeps a v1 pool's terminationGracePeriod, which v1beta1 has none of",
		written: map[string]string{"spec.template.spec.terminationGracePeriod": "1h"},
		read:    map[string]string{"spec.template.spec.terminationGracePeriod": "null"},
		known: lossy("a client that writes v1beta1 removes terminationGracePeriod",
			`terminationGracePeriod is none; wanted is "1h"`, unseen),
	},
}, func(row fields) e2e.Spec {
	return e2e.Spec{Name: row.name, Known: row.known, Run: func(ctx context.Context, env *e2e.Env) {
		pool := with(fixtures.RawNodePool(), row.written)
		roundTrip(ctx, env, pool, with(fixtures.RawNodePool().V1Beta1().Called(pool), row.read))
	}}
})
