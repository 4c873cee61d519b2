package nodeclaim

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A NodeClaim says in labels what was launched for it, as soon as it is launched and
// before there is a node: type, zone, capacity type, architecture and operating system.
// Until the node is there, Karpenter plans with these labels: it spreads pods over zones,
// and gives pods with a volume the zone of the volume.
//
// Source: pkg/cloudprovider/types.go: Create returns the NodeClaim "with resolved NodeClaim
// labels"; pkg/controllers/nodeclaim/lifecycle/launch.go, PopulateNodeClaimDetails.
var _ = Suite.Add(e2e.Spec{
	Name: "describes its instance in labels as soon as it is launched",
	Run: func(ctx context.Context, env *e2e.Env) {
		nodeClaim := fixtures.NodeClaim()
		launched := check.The(nodeClaim).In(karpenter.Launched)

		before := env.Mark()
		env.Create(ctx, nodeClaim)
		env.Await(ctx, 1, check.The(nodeClaim).In(karpenter.Initialized))

		env.Expect(env.Since(before), check.WellKnownLabels(launched)...)
	},
})
