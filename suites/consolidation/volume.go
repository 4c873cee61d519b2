package consolidation

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// Karpenter removes a node if its pod's volume reaches another node that has room. It is
// enough if one of the zones that the volume names is that node's. Regional disks are reached
// from two zones.
//
// Source: nodeSelectorTerms in nodeAffinity of the PersistentVolume API, of which one must
// match; https://karpenter.sh/docs/concepts/scheduling, "Persistent volume topology".
var _ = Suite.Add(e2e.Spec{
	Name:  "removes a node whose pod's volume reaches a node in another zone",
	Needs: []providers.Capability{providers.NodePools, providers.Zones},
	Known: []e2e.Known{{
		Releases: ">=1.0.0 <1.12.1", // seen in v1.0.8 and v1.6.4; the source is the same in v1.12.0
		Issue:    "https://github.com/kubernetes-sigs/karpenter/issues/2742",
		Reason:   "only the first of the alternatives of a volume counts",
		Breaks:   []string{"^waited for 1 node of pool "},
	}},
	Run: func(ctx context.Context, env *e2e.Env) {
		here, there := env.TwoZones(ctx, fixtures.NodePool())
		pool := fixtures.NodePool().Consolidate(fixtures.WhenEmptyOrUnderutilized)
		disk := fixtures.BoundZonalVolume(here, there)
		staying := fixtures.Deployment(1).On(pool).Select(corev1.LabelTopologyZone, there)
		first := fixtures.Deployment(1).On(pool).Select(corev1.LabelTopologyZone, there).HostPort(port)
		app := fixtures.Deployment(1).On(pool).HostPort(port).Mount(disk)
		env.Create(ctx, disk.Objects()...)
		env.Create(ctx, pool, staying, first)
		env.Await(ctx, 1, check.RunningPods(staying))
		env.Await(ctx, 1, check.RunningPods(first))
		env.Create(ctx, app)
		env.Await(ctx, 1, check.RunningPods(app))
		env.Observe(ctx, karpenter.NominationOver)

		before := env.Mark()
		env.Delete(ctx, first)
		env.Await(ctx, 1, check.Nodes(pool))
		env.Await(ctx, 1, check.RunningPods(app))

		room := check.AllOf(check.None(check.PodsOf(first)), check.AtLeast(1, check.RunningPods(app)))
		env.Expect(env.Since(before),
			check.LeadsTo(room, check.AllOf(check.Exactly(1, check.Nodes(pool)), check.AtLeast(1, check.RunningPods(app)))),
			check.Always(check.None(check.ReplacedNodes(pool, before).AmongObjects(check.PodsOf(app)))))
	},
})
