package settings

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// devicesCount makes Karpenter heed what pods claim of devices. By default it launches nothing for such pods.
var devicesCount = e2e.Settings{karpenter.IgnoreDRARequests: "false"} //nolint:gochecknoglobals // it is a constant

// devicesSince is the first release that serves, and heeds, devices.
var devicesSince = e2e.Since{Karpenter: "1.14", Kubernetes: "1.34"} //nolint:gochecknoglobals // it is a constant

// waitsForDevices is the finding that a node isn't initialized until a driver has published devices of the node's own.
func waitsForDevices(breaks string) []e2e.Known {
	return []e2e.Known{{
		Releases: ">=1.14.0 <=1.15.0", // seen in v1.14.3 and v1.15.0
		Issue:    e2e.Finding("karpenter-devices-that-are-in-no-node"),
		Reason:   "a node is not initialized until the driver of a claimed device has published devices of the node's own",
		Breaks:   []string{breaks},
	}}
}

// A pod that claims a device gets a node that reaches it. A device that is in no node, such as one
// that nodes reach over the network, needs none of a certain type. Without a node the pod would
// wait for a device that is free.
//
// Source: https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation,
// "ResourceSlice"; Karpenter: pkg/scheduling/dynamicresources; pkg/operator/options/options.go,
// ignore-dra-requests.
var _ = Suite.Add(e2e.Spec{
	Name:  "launches a node for a pod that claims a device, if devices count",
	Since: devicesSince,
	Needs: []providers.Capability{providers.NodePools, providers.DynamicResources},
	Run: func(ctx context.Context, env *e2e.Env) {
		env.Configure(ctx, devicesCount)
		devices := fixtures.NetworkDevices(1)
		claim := fixtures.ResourceClaim(devices.GetName())
		pool := fixtures.NodePool()
		app := fixtures.Deployment(1).On(pool).Claim(claim).Use(claim)
		env.Create(ctx, devices.Objects()...)

		before := env.Mark()
		env.Create(ctx, claim, pool, app)
		env.Await(ctx, 1, check.RunningPods(app))

		env.Expect(env.Since(before), check.Always(check.AtMost(1, check.NodeClaims(pool))), check.LeadsTo(
			check.AtLeast(1, check.UnschedulablePods(app)), check.AtLeast(1, check.NodeClaims(pool))))
	},
})
