package provisioning

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// A pod whose volume is in a zone gets a node there. Other zones can't reach the volume,
// so a node in them costs money while the pod stays pending. Each NodeClaim requires the one
// zone, so that nothing depends on the provider's luck.
//
// Source: nodeAffinity of the PersistentVolume API, allowedTopologies of the
// StorageClass API, ephemeral volumes of the Pod API;
// https://karpenter.sh/docs/concepts/scheduling, "Persistent volume topology".
var _ = e2e.Table(Suite, map[string]zonal{
	"volume":        {"its volume is", fixtures.BoundZonalVolume, mountClaim},
	"storage-class": {"its storage class makes volumes", fixtures.UnboundZonalVolume, mountClaim},
	"ephemeral": {
		"its ephemeral volume is made", fixtures.EphemeralZonalVolume,
		func(app *fixtures.Workload, disk *fixtures.ZonalVolume) { app.MountEphemeral(disk) },
	},
}, func(row zonal) e2e.Spec {
	return e2e.Spec{
		Name:  "gives a pod a node in the zone where " + row.what,
		Needs: []providers.Capability{providers.NodePools, providers.Zones},
		Run: func(ctx context.Context, env *e2e.Env) {
			here, there := env.TwoZones(ctx, fixtures.NodePool())
			pool := fixtures.NodePool()
			near, far := row.disk(here), row.disk(there)
			beside, away := fixtures.Deployment(1).On(pool).HostPort(port), fixtures.Deployment(1).On(pool).HostPort(port)
			row.mount(beside, near)
			row.mount(away, far)

			before := env.Mark()
			env.Create(ctx, near.Objects()...)
			env.Create(ctx, far.Objects()...)
			env.Create(ctx, pool, beside, away)
			env.Await(ctx, 1, check.RunningPods(beside))
			env.Await(ctx, 1, check.RunningPods(away))

			env.Expect(env.Since(before),
				check.Always(check.AtMost(2, check.NodeClaims(pool))),
				check.Always(check.Each(check.NodeClaims(pool), "require one zone", check.RequiringOne(zone))),
				check.Finally(check.AtLeast(1, check.RunningPods(beside).On(labeledNodes(pool, zone, here)))),
				check.Finally(check.AtLeast(1, check.RunningPods(away).On(labeledNodes(pool, zone, there)))))
		},
	}
})

// zonal makes a volume in a zone.
type zonal struct {
	what  string
	disk  func(zones ...string) *fixtures.ZonalVolume
	mount func(*fixtures.Workload, *fixtures.ZonalVolume)
}

func mountClaim(app *fixtures.Workload, disk *fixtures.ZonalVolume) { app.Mount(disk) }

const zone = corev1.LabelTopologyZone
