package conversion

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A NodeClaim's status says the same in both versions, whichever of them a controller writes it in.
// It says which instance and which node belong together, and what the node has room for. Karpenter
// would launch a second instance for a NodeClaim whose status it can't read.
//
// Source: "Status Condition Schema" in designs/v1-api.md; NodeClaimStatus.convertTo and convertFrom
// in pkg/apis/v1/nodeclaim_conversion.go.
var _ = Suite.Add(e2e.Spec{
	Name:  "keeps the status of NodeClaims",
	Needs: standalone(),
	Run: func(ctx context.Context, env *e2e.Env) {
		nodeClaim := fixtures.RawNodeClaim()
		older := fixtures.RawNodeClaim().V1Beta1().Called(nodeClaim)
		env.Create(ctx, nodeClaim)
		env.Await(ctx, 1, check.The(nodeClaim).In(karpenter.Initialized))
		env.Observe(ctx, karpenter.Settled)
		ready := env.Await(ctx, 1, check.The(nodeClaim))[0].Unstructured()

		env.PatchStatus(ctx, nodeClaim, fmt.Sprintf(`{"status":{"conditions":%s}}`, fixtures.MoreConditions(ready, example)))
		env.PatchStatus(ctx, older, `{"status":{"imageID":"an-image"}}`)
		env.ExpectFields(ctx, withNodeStatus(nodeClaim, ready), withNodeStatus(older, ready))
	},
})

// example is the type of a condition that Karpenter doesn't know.
const example = "Example"

// withStatus adds fields of a status, and its conditions, to what is expected of an object.
func withStatus(o *fixtures.Raw, of *unstructured.Unstructured, fields ...string) *fixtures.Raw {
	for _, field := range fields {
		value, _, _ := unstructured.NestedFieldNoCopy(of.Object, "status", field)
		o.Write("status."+field, asJSON(value))
	}
	return o.Write("status.conditions", fixtures.MoreConditions(of, example))
}

// withNodeStatus adds the status to what is expected of a NodeClaim.
func withNodeStatus(nodeClaim *fixtures.Raw, of *unstructured.Unstructured) *fixtures.Raw {
	return withStatus(nodeClaim, of, "nodeName", "providerID", "capacity", "allocatable").
		Write("status.imageID", "an-image")
}

func asJSON(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // it came as JSON
	}
	return string(text)
}
