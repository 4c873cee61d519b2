package settings

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// A device that another pod has is none for the next one. Two pods have all devices, so that a
// third one could run on no node, and none is launched for it. Karpenter counts what is allocated,
// and what it has meant for pods that are not bound yet.
//
// Source: https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation,
// "ResourceClaim"; Karpenter: pkg/controllers/dynamicresources/deviceallocation.
var _ = Suite.Add(e2e.Spec{
	Name:  "launches nothing for a pod that claims a device which others have, if devices count",
	Since: devicesSince,
	Needs: []providers.Capability{providers.NodePools, providers.DynamicResources},
	Run: func(ctx context.Context, env *e2e.Env) {
		env.Configure(ctx, devicesCount)
		devices, pool := fixtures.NetworkDevices(2), fixtures.NodePool()
		template := fixtures.ResourceClaimTemplate(devices.GetName())
		app := fixtures.Deployment(3).On(pool).OnePodPerNode().ClaimEach(template).Use(template)
		env.Create(ctx, devices.Objects()...)

		before := env.Mark()
		env.Create(ctx, template, pool, app)
		env.Await(ctx, 2, check.RunningPods(app))
		env.Observe(ctx, karpenter.PodsRetried)

		env.Expect(env.Since(before), check.Always(check.AtMost(2, check.NodeClaims(pool))),
			check.EndsWith(app, check.Exactly(1, check.UnschedulablePods(app))))
	},
})
