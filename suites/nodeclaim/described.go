package nodeclaim

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A NodeClaim says what was launched for it, as soon as it is launched and before there is a
// node: in labels the type, zone, capacity type, architecture and operating system, and in its
// status what pods may request. Until the node is there, Karpenter plans with these: it spreads
// pods over zones, gives pods with a volume the zone of the volume, and counts on the room.
//
// Source: pkg/cloudprovider/types.go: Create returns the NodeClaim "with resolved NodeClaim
// labels"; status.allocatable of the NodeClaim API;
// pkg/controllers/nodeclaim/lifecycle/launch.go, PopulateNodeClaimDetails.
var _ = Suite.Add(e2e.Spec{
	Name: "describes its instance as soon as it is launched",
	Run: func(ctx context.Context, env *e2e.Env) {
		nodeClaim := fixtures.NodeClaim()
		launched := check.The(nodeClaim).In(karpenter.Launched)

		before := env.Mark()
		env.Create(ctx, nodeClaim)
		env.Await(ctx, 1, check.The(nodeClaim).In(karpenter.Initialized))

		env.Expect(env.Since(before), check.WellKnownLabels(launched)...)
		env.Expect(env.Since(before), check.Always(check.Each(launched, "have CPUs for pods",
			check.Holding(corev1.ResourceCPU, "100m"))))
	},
})
