package settings

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// The operators of a cluster can make its scheduler spread pods that say nothing about it.
// Karpenter is told of that, and launches nodes that allow it. Nodes in one zone only would
// leave pods pending. Pods of other workloads don't count.
//
// The scheduler of this cluster has no such rule, so that all pods run anywhere.
//
// Source: https://karpenter.sh/docs/reference/settings, SCHEDULER_CONFIG;
// https://kubernetes.io/docs/concepts/scheduling-eviction/topology-spread-constraints,
// "Cluster-level default constraints".
var _ = e2e.Table(Suite, map[string]alike{
	"deployment": {"of a Deployment", func(pool *fixtures.Pool) []fixtures.Object {
		return []fixtures.Object{fixtures.Deployment(2).On(pool).HostPort(port)}
	}},
	"stateful-set": {"of a StatefulSet", func(pool *fixtures.Pool) []fixtures.Object {
		return []fixtures.Object{fixtures.StatefulSet(2).On(pool).HostPort(port)}
	}},
	"service": {"of a Service", func(pool *fixtures.Pool) []fixtures.Object {
		one, other := fixtures.Pod().On(pool).HostPort(port), fixtures.Pod().On(pool).HostPort(port)
		return []fixtures.Object{fixtures.Service(web, "one"), one.Label(web, "one"), other.Label(web, "one")}
	}},
}, func(row alike) e2e.Spec {
	return e2e.Spec{
		Name:  "spreads the pods " + row.of + " over zones if the cluster's scheduler does so by default",
		Since: e2e.Since{Karpenter: "1.15"},
		Needs: []providers.Capability{providers.NodePools, providers.Zones},
		Run: func(ctx context.Context, env *e2e.Env) {
			here, there := env.TwoZones(ctx, fixtures.NodePool())
			crowded := fixtures.NodePool()
			crowd := fixtures.Deployment(2).On(crowded).Select(corev1.LabelTopologyZone, here)
			env.Create(ctx, crowded, crowd)
			env.Await(ctx, 2, check.RunningPods(crowd))
			env.Configure(ctx, e2e.Settings{karpenter.SchedulerConfig: spreadByDefault(corev1.LabelTopologyZone)})
			pool := fixtures.NodePool().Require(corev1.LabelTopologyZone, fixtures.In, here, there)

			before := env.Mark()
			env.Create(ctx, pool)
			env.Create(ctx, row.make(pool)...)
			env.Await(ctx, 2, check.ReadyNodes(pool))

			env.Expect(env.Since(before),
				check.Always(check.AtMost(1, zonal(pool, here))), check.Always(check.AtMost(1, zonal(pool, there))),
				check.Always(check.AtMost(2, check.NodeClaims(pool))),
				check.Always(check.Each(check.NodeClaims(pool), "require one zone",
					check.RequiringOne(corev1.LabelTopologyZone))))
		},
	}
})

// alike makes pods that something groups: those that are spread together.
type alike struct {
	of   string
	make func(pool *fixtures.Pool) []fixtures.Object
}

// web is a label of pods that a Service selects.
const web = fixtures.Domain + "/web"

// port lets one pod run on a node.
const port = 9100

// spreadByDefault returns the settings of a scheduler that spreads pods by a label of nodes.
func spreadByDefault(label string) string {
	return fmt.Sprintf("podTopologySpread: {defaultConstraints: [{maxSkew: 1, topologyKey: %s, "+
		"whenUnsatisfiable: DoNotSchedule}]}", label)
}

// zonal counts a pool's nodes in a zone.
func zonal(pool *fixtures.Pool, zone string) check.Count {
	return check.Nodes(pool).With("in zone "+zone, check.Labeled(corev1.LabelTopologyZone, zone))
}
