package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// A pod that excludes others by zone may run in each zone of its pool where none of them is. Its
// NodeClaim allows all of these, and the provider takes the one that is cheapest and has machines
// left. If Karpenter chose, a zone without machines would hold the pod up.
//
// Source: podAntiAffinity of the Pod API, which excludes domains and asks for none; Karpenter:
// pkg/controllers/provisioning/scheduling/topologygroup.go, nextDomainAntiAffinity.
var _ = Suite.Add(e2e.Spec{
	Name:  "leaves the choice between the zones where no pod is that a pod excludes",
	Needs: []providers.Capability{providers.NodePools, providers.Zones},
	Run: func(ctx context.Context, env *e2e.Env) {
		here, there := env.TwoZones(ctx, fixtures.NodePool())
		pool := fixtures.NodePool().Require(zone, fixtures.In, here, there)
		app := fixtures.Deployment(1).On(pool)
		app.PodAntiAffinity(app, zone)

		before := env.Mark()
		env.Create(ctx, pool, app)
		env.Await(ctx, 1, check.RunningPods(app))

		env.Expect(env.Since(before), check.Always(check.AtMost(1, check.NodeClaims(pool))),
			check.Always(check.Each(check.NodeClaims(pool), "allow both zones", check.Requiring(zone, here, there))))
	},
})
