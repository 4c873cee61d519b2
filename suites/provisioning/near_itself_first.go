package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// The first of pods that must be near each other may go to any zone, so it gets a node in that of
// its pool at once, although other pools have other zones. Databases that keep their replicas close
// often have a pool in one zone. No event says that no node fits one of three such pods.
//
// Source: podAffinity of the Pod API: "if there are no such pods, a pod that matches itself may be
// scheduled"; Karpenter: pkg/controllers/provisioning/scheduling/topologygroup.go, nextDomainAffinity.
var _ = Suite.Add(e2e.Spec{
	Name:  "gives the first of pods that must be near each other a node in its pool's zone at once",
	Needs: []providers.Capability{providers.NodePools, providers.Zones},
	Run: func(ctx context.Context, env *e2e.Env) {
		_, there := env.TwoZones(ctx, fixtures.NodePool())
		pool := fixtures.NodePool().Require(zone, fixtures.In, there)
		one, two, three := fixtures.Deployment(1).On(pool), fixtures.Deployment(1).On(pool), fixtures.Deployment(1).On(pool)

		before := env.Mark()
		env.Create(ctx, pool, one.PodAffinity(one, zone), two.PodAffinity(two, zone), three.PodAffinity(three, zone))
		env.Await(ctx, 1, check.RunningPods(one))
		env.Await(ctx, 1, check.RunningPods(two))
		env.Await(ctx, 1, check.RunningPods(three))

		refused := noFitEvents(one).Or(noFitEvents(two)).Or(noFitEvents(three))
		env.Expect(env.Since(before), check.Always(check.AtMost(3, check.NodeClaims(pool))),
			check.Always(check.None(refused.AmongObjects(check.PodsOf(one)))))
	},
})
