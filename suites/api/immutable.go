package api

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// The API server refuses changes to a NodeClaim's spec. An instance cannot be changed
// into another instance, so a changed NodeClaim would describe its machine wrongly.
// Labels and annotations may change.
//
// Source: spec of the NodeClaim API.
var _ = Suite.Add(e2e.Spec{
	Name:  "refuses every change of what a NodeClaim requests",
	Needs: []providers.Capability{providers.StandaloneNodeClaims},
	Run: func(ctx context.Context, env *e2e.Env) {
		const immutable = "spec is immutable"
		nodeClaim := fixtures.RawNodeClaim().Write("spec.expireAfter", "Never")
		env.Create(ctx, nodeClaim)

		env.Accepted(ctx, nodeClaim.Write("metadata.annotations", "{plumbline.test/a: b}"))
		env.Refused(ctx, immutable, nodeClaim.Write("spec.expireAfter", "1h"))
		nodeClaim.Write("spec.expireAfter", "Never")
		env.Refused(ctx, immutable, nodeClaim.Write("spec.terminationGracePeriod", "1h"))
		nodeClaim.Unwrite("spec.terminationGracePeriod")
		env.Refused(ctx, immutable, nodeClaim.Write("spec.taints", "[{key: a, effect: NoSchedule}]"))
		nodeClaim.Unwrite("spec.taints")
		env.Refused(ctx, immutable, nodeClaim.Write("spec.requirements", "[{key: a, operator: Exists}]"))
		nodeClaim.Unwrite("spec.requirements")
		env.Refused(ctx, immutable, nodeClaim.Write("spec.resources.requests", "{cpu: 100m}"))
	},
})
