package settings

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// A node of a pod that claims a device is initialized, also if the device is in no node. Such a
// device is there before the node is, and nothing more is published once the node has joined. A
// node that is never initialized is neither consolidated nor replaced when it drifts.
//
// Source: https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation,
// "ResourceSlice"; https://karpenter.sh/docs/concepts/nodeclaims, "Initialized".
var _ = Suite.Add(e2e.Spec{
	Name:  "initializes the node of a pod that claims a device, if devices count",
	Since: devicesSince,
	Needs: []providers.Capability{providers.NodePools, providers.DynamicResources},
	Known: waitsForDevices("^in the end exactly 1 "),
	Run: func(ctx context.Context, env *e2e.Env) {
		env.Configure(ctx, devicesCount)
		devices, pool := fixtures.NetworkDevices(1), fixtures.NodePool()
		claim := fixtures.ResourceClaim(devices.GetName())
		app := fixtures.Deployment(1).On(pool).Claim(claim).Use(claim)
		env.Create(ctx, devices.Objects()...)

		before := env.Mark()
		env.Create(ctx, claim, pool, app)
		env.Await(ctx, 1, check.RunningPods(app))
		env.Observe(ctx, karpenter.Settled)

		env.Expect(env.Since(before), check.EndsWith(app, check.Exactly(1, check.InitializedNodes(pool))))
	},
})
