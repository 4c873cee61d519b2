package settings

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// A pod that waits for a device gets a node as soon as another pod gives one back, and not before.
// Nothing about the pod itself changes then.
//
// Source: https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation,
// "ResourceClaim"; Karpenter: pkg/controllers/dynamicresources/deviceallocation.
var _ = Suite.Add(e2e.Spec{
	Name:  "launches a node for a pod as soon as the device that it claims is free, if devices count",
	Since: devicesSince,
	Needs: []providers.Capability{providers.NodePools, providers.DynamicResources},
	Run: func(ctx context.Context, env *e2e.Env) {
		env.Configure(ctx, devicesCount)
		devices, first, second := fixtures.NetworkDevices(1), fixtures.NodePool(), fixtures.NodePool()
		template := fixtures.ResourceClaimTemplate(devices.GetName())
		has := fixtures.Deployment(1).On(first).ClaimEach(template).Use(template)
		waits := fixtures.Deployment(1).On(second).ClaimEach(template).Use(template)
		env.Create(ctx, devices.Objects()...)
		env.Create(ctx, template, first, second, has)
		env.Await(ctx, 1, check.RunningPods(has))

		before := env.Mark()
		env.Create(ctx, waits)
		env.Await(ctx, 1, check.UnschedulablePods(waits))
		env.Observe(ctx, karpenter.Settled)
		env.Delete(ctx, has)
		env.Await(ctx, 1, check.RunningPods(waits))

		env.Expect(env.Since(before), check.While(check.RunningPods(has), check.None(check.NodeClaims(second))))
	},
})
