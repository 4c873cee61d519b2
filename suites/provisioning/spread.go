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

// domains holds the values of a label over which pods spread.
type domains struct {
	choice
	needs []providers.Capability
	allow []string // allowed by the pool; none: all
	avoid []string // excluded by the pool
}

// Pods that must be spread over zones, capacity types or a pool's label get nodes there
// evenly. The numbers differ by at most one. The loss of a zone then affects as few pods
// as possible. Each NodeClaim requires one value, so that nothing depends on the
// provider's luck.
//
// Source: topologySpreadConstraints of the Pod API;
// https://karpenter.sh/docs/concepts/scheduling, "Topology Spread".
var _ = e2e.Table(Suite, map[string]domains{
	"zones": {choice{"zones", corev1.LabelTopologyZone}, []providers.Capability{providers.Zones}, nil, nil},
	"zones-left": {
		choice{"the zones that their pool doesn't exclude", corev1.LabelTopologyZone},
		[]providers.Capability{providers.Zones},
		nil,
		[]string{"elsewhere"},
	},
	"capacity-types": {
		choice{"capacity types", karpenter.CapacityTypeLabel},
		[]providers.Capability{providers.Spot},
		[]string{karpenter.Spot, karpenter.OnDemand},
		nil,
	},
	"label": {choice{"the values of a label", rack}, nil, []string{"a", "b", "c"}, nil},
}, func(d domains) e2e.Spec {
	return e2e.Spec{
		Name:  "spreads pods over " + d.what,
		Needs: append([]providers.Capability{providers.NodePools}, d.needs...),
		Run: func(ctx context.Context, env *e2e.Env) {
			pool := limitedTo(limitedTo(fixtures.NodePool(), d.key, fixtures.In, d.allow), d.key, fixtures.NotIn, d.avoid)
			app := fixtures.Deployment(5).On(pool).OnePodPerNode().Spread(fixtures.TopologySpread(d.key))

			before := env.Mark()
			env.Create(ctx, pool, app)
			env.Await(ctx, 5, check.RunningPods(app))

			env.Expect(env.Since(before), check.Always(check.AtMost(5, check.NodeClaims(pool))),
				check.Always(check.Each(check.NodeClaims(pool), "require one value of "+d.key, check.RequiringOne(d.key))),
				check.Finally(check.Balanced(1, check.ReadyNodes(pool), d.key)))
		},
	}
})

// limitedTo limits a pool by these values of a label, if there are any.
func limitedTo(pool *fixtures.Pool, key, operator string, values []string) *fixtures.Pool {
	if len(values) == 0 {
		return pool
	}
	return pool.Require(key, operator, values...)
}
