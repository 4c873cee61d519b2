package provisioning

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// domains are the values of a label over which pods are spread.
type domains struct {
	choice
	needs []providers.Capability
	allow []string // by the pool; none: what there is
}

// Pods that must be spread over zones, capacity types, or the values of a label of
// the pool get nodes there in equal numbers, give or take one: the zone that is lost
// takes no more pods along than it must. Each NodeClaim says where, and nothing is
// left to the provider's luck.
//
// Source: topologySpreadConstraints of the Pod API;
// https://karpenter.sh/docs/concepts/scheduling, "Topology Spread".
var _ = e2e.Table(Suite, map[string]domains{
	"zones": {choice{"zones", corev1.LabelTopologyZone}, []providers.Capability{providers.Zones}, nil},
	"capacity-types": {
		choice{"capacity types", karpenter.CapacityTypeLabel},
		[]providers.Capability{providers.Spot},
		[]string{karpenter.Spot, karpenter.OnDemand},
	},
	"label": {choice{"the values of a label", rack}, nil, []string{"a", "b", "c"}},
}, func(d domains) e2e.Spec {
	return e2e.Spec{
		Name:  "spreads pods over " + d.what,
		Needs: append([]providers.Capability{providers.NodePools}, d.needs...),
		Run: func(ctx context.Context, env *e2e.Env) {
			pool := allowing(fixtures.NodePool(), d.key, d.allow)
			app := fixtures.Deployment(5).On(pool).OnePodPerNode().Spread(fixtures.TopologySpread(d.key))

			before := env.Mark()
			env.Create(ctx, pool, app)
			env.Await(ctx, 5, check.RunningPods(app))

			env.Expect(env.Since(before), check.Always(check.AtMost(5, check.NodeClaims(pool))),
				check.Always(check.Each(check.NodeClaims(pool), "require one value of "+d.key, decided(d.key))),
				check.Finally(check.Balanced(1, check.ReadyNodes(pool), d.key)))
		},
	}
})

// allowing makes a pool allow these values of a label; without any, all that there are.
func allowing(pool *fixtures.Pool, key string, values []string) *fixtures.Pool {
	if len(values) == 0 {
		return pool
	}
	return pool.Require(key, fixtures.In, values...)
}
