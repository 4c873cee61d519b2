package conversion

import (
	"context"
	"fmt"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A v1beta1 NodeClaim refers to a NodeClass by name, kind and apiVersion. V1 has its group, and
// v1beta1 what was written. Karpenter looks the NodeClass up by it until the node is gone, to end the
// instance and to see whether it has drifted.
//
// Source: "Updating spec.nodeClassRef.apiVersion to spec.nodeClassRef.group" in designs/v1-api.md.
var _ = Suite.Add(e2e.Spec{
	Name:  "keeps a v1beta1 NodeClaim's reference to a NodeClass",
	Needs: standalone(),
	Run: func(ctx context.Context, env *e2e.Env) {
		group, kind, name := env.AnotherNodeClass(ctx)
		nodeClaim := fixtures.RawNodeClaim().V1Beta1().
			Write("spec.nodeClassRef", fmt.Sprintf("{name: %s, kind: %s, apiVersion: %s/v1alpha1}", name, kind, group))
		roundTrip(ctx, env, nodeClaim, fixtures.RawNodeClaim().Called(nodeClaim).
			Write("spec.nodeClassRef", fmt.Sprintf("{group: %s, kind: %s, name: %s}", group, kind, name)))
	},
})
