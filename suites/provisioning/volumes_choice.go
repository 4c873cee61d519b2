package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// A volume that several zones reach leaves the choice to its pod. The pod gets a node in the
// zone that all of them allow: its pool, and its other volumes. Regional disks are reached
// from two zones, and a cluster need not have nodes in the first.
//
// Source: nodeSelectorTerms in nodeAffinity of the PersistentVolume API, of which one must
// match; allowedTopologies of the StorageClass API.
var _ = e2e.Table(Suite, map[string]reached{
	"volume": {"its volume and its pool allow", func(
		pool *fixtures.Pool, app *fixtures.Workload, here, there string,
	) []fixtures.Object {
		pool.Require(zone, fixtures.In, there)
		return mounted(app, fixtures.BoundZonalVolume(here, there))
	}},
	"storage-class": {"its storage class and its pool allow", func(
		pool *fixtures.Pool, app *fixtures.Workload, here, there string,
	) []fixtures.Object {
		pool.Require(zone, fixtures.In, there)
		return mounted(app, fixtures.UnboundZonalVolume(here, there))
	}},
	"two-volumes": {"both of its volumes allow", func(
		_ *fixtures.Pool, app *fixtures.Workload, here, there string,
	) []fixtures.Object {
		return mounted(app, fixtures.BoundZonalVolume(here, there), fixtures.BoundZonalVolume("nowhere", there))
	}},
}, func(row reached) e2e.Spec {
	return e2e.Spec{
		Name:  "gives a pod a node in the one zone that " + row.deciding,
		Known: firstAlternative,
		Needs: []providers.Capability{providers.NodePools, providers.Zones},
		Run: func(ctx context.Context, env *e2e.Env) {
			here, there := env.TwoZones(ctx, fixtures.NodePool())
			pool := fixtures.NodePool()
			app := fixtures.Deployment(1).On(pool)
			disks := row.mount(pool, app, here, there)

			before := env.Mark()
			env.Create(ctx, disks...)
			env.Create(ctx, pool, app)
			env.Await(ctx, 1, check.RunningPods(app))

			env.Expect(env.Since(before),
				check.Always(check.AtMost(1, check.NodeClaims(pool))),
				check.Finally(check.AtLeast(1, check.RunningPods(app).On(labeledNodes(pool, zone, there)))))
		},
	}
})

// firstAlternative is that the second zone of a volume is out of reach.
var firstAlternative = []e2e.Known{{
	Releases: ">=1.0.0 <1.12.1", // seen in v1.0.8 and v1.6.4; the source is the same in v1.12.0
	Issue:    "https://github.com/kubernetes-sigs/karpenter/issues/2742",
	Reason:   "only the first of the alternatives of a volume or a storage class counts",
	Breaks:   []string{"^waited for 1 pod", "^in the end exactly 1 NodeClaim"},
}}

// reached gives a pod volumes that several zones reach. Only one of the zones will do.
type reached struct {
	deciding string
	mount    func(pool *fixtures.Pool, app *fixtures.Workload, here, there string) []fixtures.Object
}

// mounted gives a pod volumes, and returns their objects.
func mounted(app *fixtures.Workload, disks ...*fixtures.ZonalVolume) []fixtures.Object {
	var objects []fixtures.Object
	for _, disk := range disks {
		app.Mount(disk)
		objects = append(objects, disk.Objects()...)
	}
	return objects
}
