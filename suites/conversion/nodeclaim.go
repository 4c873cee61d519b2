package conversion

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// A NodeClaim that was written as v1beta1 says the same in v1, and in v1beta1 after any client has
// written it in either version. Each is a node that runs: a field that changes would make it drift,
// or expire.
//
// Source: "NodeClaim API" in designs/v1-api.md; NodeClaim.ConvertFrom and ConvertTo in
// pkg/apis/v1/nodeclaim_conversion.go.
var _ = e2e.Table(Suite, map[string]fields{
	"taints":       both("keeps the taints of a v1beta1 NodeClaim", taints("spec.")),
	"requirements": both("keeps the requirements of a v1beta1 NodeClaim", nodeRequirements()),
	"resources":    both("keeps the resources that a v1beta1 NodeClaim asks for", resources()),
	"kubelet":      kubelet("keeps the kubelet settings of a v1beta1 NodeClaim in an annotation", "spec."),
	"expire-after": {
		name:    "lets a v1beta1 NodeClaim without a pool live for ever, as it did",
		written: map[string]string{},
		read:    map[string]string{"spec.expireAfter": "Never"},
	},
}, func(row fields) e2e.Spec {
	return e2e.Spec{
		Name: row.name, Known: row.known, Needs: standalone(),
		Run: func(ctx context.Context, env *e2e.Env) {
			nodeClaim := with(fixtures.RawNodeClaim().V1Beta1(), row.written)
			roundTrip(ctx, env, nodeClaim, with(fixtures.RawNodeClaim().Called(nodeClaim), row.read))
		},
	}
})

// standalone returns what specs of NodeClaims need.
func standalone() []providers.Capability {
	return []providers.Capability{providers.StandaloneNodeClaims, providers.Conversion}
}

// nodeRequirements returns requirements that a node can meet.
func nodeRequirements() map[string]string {
	return map[string]string{
		"spec.requirements": "[{key: example.com/a, operator: DoesNotExist}, " +
			"{key: example.com/b, operator: NotIn, values: [x, z]}, " +
			"{key: topology.kubernetes.io/zone, operator: Exists, minValues: 1}]",
	}
}

// resources returns what a NodeClaim asks for.
func resources() map[string]string {
	return map[string]string{"spec.resources.requests": "{cpu: 1500m, memory: 256Mi, pods: 4}"}
}
