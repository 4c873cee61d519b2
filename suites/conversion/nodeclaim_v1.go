package conversion

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A NodeClaim that was written as v1 says the same in v1beta1, as far as that has the fields, and is
// unchanged after a client has written it as v1beta1. What it says of its own end must not be lost:
// its node would stay longer, or go sooner, than its user said.
//
// Source: "NodeClaim API" in designs/v1-api.md; NodeClaim.ConvertTo and ConvertFrom in
// pkg/apis/v1/nodeclaim_conversion.go.
var _ = e2e.Table(Suite, map[string]fields{
	"taints":       both("keeps the taints of a v1 NodeClaim", taints("spec.")),
	"requirements": both("keeps the requirements of a v1 NodeClaim", nodeRequirements()),
	"resources":    both("keeps the resources that a v1 NodeClaim asks for", resources()),
	"expire-after": {
		name:    "keeps a v1 NodeClaim's expireAfter, which v1beta1 has none of",
		written: map[string]string{"spec.expireAfter": "12h"},
		read:    map[string]string{"spec.expireAfter": "null"},
		known: lossy("a client that writes v1beta1 makes a NodeClaim without a pool live for ever",
			`expireAfter is "Never"; wanted is "12h"`),
	},
	"termination-grace-period": {
		name:    "keeps a v1 NodeClaim's terminationGracePeriod, which v1beta1 has none of",
		written: map[string]string{"spec.terminationGracePeriod": "1h"},
		read:    map[string]string{"spec.terminationGracePeriod": "null"},
		known: lossy("a client that writes v1beta1 removes terminationGracePeriod",
			`terminationGracePeriod is none; wanted is "1h"`),
	},
}, func(row fields) e2e.Spec {
	return e2e.Spec{
		Name: row.name, Known: row.known, Needs: standalone(),
		Run: func(ctx context.Context, env *e2e.Env) {
			nodeClaim := with(fixtures.RawNodeClaim(), row.written)
			roundTrip(ctx, env, nodeClaim, with(fixtures.RawNodeClaim().V1Beta1().Called(nodeClaim), row.read))
		},
	}
})
