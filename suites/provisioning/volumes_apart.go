package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// A pod whose two volumes are in different zones gets no node: none reaches both. A node in either
// zone would stay empty, and be replaced by the next one. It happens when somebody restores a
// volume in another zone.
//
// Source: nodeAffinity of the PersistentVolume API;
// https://karpenter.sh/docs/concepts/scheduling, "Persistent volume topology".
var _ = Suite.Add(e2e.Spec{
	Name:  "launches nothing for a pod whose volumes no zone reaches together",
	Needs: []providers.Capability{providers.NodePools, providers.Zones},
	Run: func(ctx context.Context, env *e2e.Env) {
		here, there := env.TwoZones(ctx, fixtures.NodePool())
		pool := fixtures.NodePool()
		app := fixtures.Deployment(1).On(pool)
		env.Create(ctx, mounted(app, fixtures.BoundZonalVolume(here), fixtures.BoundZonalVolume(there))...)

		before := env.Mark()
		env.Create(ctx, pool, app)
		env.AwaitAtLeast(ctx, 1, decisions(app, pool, before))
		env.Observe(ctx, karpenter.PodsRetried)

		env.Expect(env.Since(before), passedOver(pool, app))
	},
})
