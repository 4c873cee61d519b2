package settings

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// A drifted node is replaced although its pod has the only device. The pod gives the device back
// when it goes, and the next one can have it. If the device counted as taken, no other node would
// do for the pod, and the drifted one would stay for ever.
//
// Source: https://karpenter.sh/docs/concepts/disruption, "Drift"; Karpenter:
// pkg/controllers/provisioning/dra.go, gatherAllocatedDevices.
var _ = Suite.Add(e2e.Spec{
	Name:  "replaces a drifted node whose pod has the only device, if devices count",
	Since: devicesSince,
	Needs: []providers.Capability{providers.NodePools, providers.DynamicResources},
	Known: waitsForDevices("^waited for 1 node of pool"),
	Run: func(ctx context.Context, env *e2e.Env) {
		env.Configure(ctx, devicesCount)
		devices, pool := fixtures.NetworkDevices(1), fixtures.NodePool()
		template := fixtures.ResourceClaimTemplate(devices.GetName())
		app := fixtures.Deployment(1).On(pool).ClaimEach(template).Use(template)
		env.Create(ctx, devices.Objects()...)
		env.Create(ctx, template, pool, app)
		env.Await(ctx, 1, check.RunningPods(app))
		env.Await(ctx, 1, check.InitializedNodes(pool)) // others don't drift

		before := env.Mark()
		env.Change(ctx, pool.NewTemplate())
		env.Await(ctx, 1, check.ReplacedNodes(pool, before))
		env.Await(ctx, 1, check.RunningPods(app).New(before))

		env.Expect(env.Since(before), check.Always(check.AtMost(2, check.NodeClaims(pool))))
	},
})
