package settings

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// A pod that claims a device gets a node that reaches it: one in the device's zone. In another zone
// the pod would wait for ever, beside a node that is paid for.
//
// Source: spec.nodeSelector of the ResourceSlice API; Karpenter: pkg/scheduling/dynamicresources.
var _ = Suite.Add(e2e.Spec{
	Name:  "launches a node in the zone of the device that a pod claims, if devices count",
	Since: devicesSince,
	Needs: []providers.Capability{providers.NodePools, providers.Zones, providers.DynamicResources},
	Run: func(ctx context.Context, env *e2e.Env) {
		env.Configure(ctx, devicesCount)
		_, zone := env.TwoZones(ctx, fixtures.NodePool())
		devices, pool := fixtures.NetworkDevices(1).In(zone), fixtures.NodePool()
		claim := fixtures.ResourceClaim(devices.GetName())
		app := fixtures.Deployment(1).On(pool).Claim(claim).Use(claim)
		env.Create(ctx, devices.Objects()...)

		before := env.Mark()
		env.Create(ctx, claim, pool, app)
		env.Await(ctx, 1, check.RunningPods(app))

		env.Expect(env.Since(before), check.Always(check.AtMost(1, check.NodeClaims(pool))),
			check.Always(check.Each(check.NodeClaims(pool), "require the zone of the device",
				check.Requiring(corev1.LabelTopologyZone, zone))))
	},
})
