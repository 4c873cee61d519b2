package conversion

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A client that writes a NodeClaim's status as v1beta1 leaves the time of the node's last pod event
// alone, which v1beta1 has no field for. Consolidation waits from this time on: without it, a node that
// has just got a pod is consolidated as if nothing had happened.
//
// Source: status.lastPodEventTime of the NodeClaim API in v1; spec.disruption.consolidateAfter.
var _ = Suite.Add(e2e.Spec{
	Name:  "keeps the time of a node's last pod event, which v1beta1 has none of",
	Needs: standalone(),
	Known: lossy("a client that writes v1beta1 removes lastPodEventTime", "lastPodEventTime is none"),
	Run: func(ctx context.Context, env *e2e.Env) {
		nodeClaim := fixtures.RawNodeClaim()
		env.Create(ctx, nodeClaim)
		env.Await(ctx, 1, check.The(nodeClaim).In(karpenter.Initialized))

		env.PatchStatus(ctx, nodeClaim, `{"status":{"lastPodEventTime":"2024-02-02T19:54:34Z"}}`)
		env.ExpectFields(ctx, nodeClaim.Write("status.lastPodEventTime", `"2024-02-02T19:54:34Z"`))
		env.PatchStatus(ctx, fixtures.RawNodeClaim().V1Beta1().Called(nodeClaim), `{"status":{"imageID":"an-image"}}`)
		env.ExpectFields(ctx, nodeClaim)
	},
})
