package provisioning

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Pods that must be spread over hosts get as many nodes as maxSkew requires, and no more.
// Four pods get four nodes with a skew of one, and two with a skew of two. More nodes
// would cost money for nothing. On fewer nodes, pods can't be spread again until one
// dies.
//
// Source: topologySpreadConstraints, maxSkew, of the Pod API;
// https://karpenter.sh/docs/concepts/scheduling, "Topology Spread".
var _ = e2e.Table(Suite, map[string]struct{ skew, nodes int }{
	"skew-1": {1, 4},
	"skew-2": {2, 2},
}, func(r struct{ skew, nodes int }) e2e.Spec {
	return e2e.Spec{
		Name: fmt.Sprintf("spreads four pods over %d hosts for a skew of %d", r.nodes, r.skew),
		Run: func(ctx context.Context, env *e2e.Env) {
			pool := fixtures.NodePool()
			app := fixtures.Deployment(4).On(pool).CPU("1").Spread(fixtures.TopologySpread(corev1.LabelHostname).MaxSkew(r.skew))

			before := env.Mark()
			env.Create(ctx, pool, app)
			env.Await(ctx, 4, check.RunningPods(app))

			tooMany := fmt.Sprint(r.skew + 1)
			env.Expect(env.Since(before), check.Always(check.AtMost(r.nodes, check.NodeClaims(pool))),
				check.EndsWith(app, check.Exactly(r.nodes, check.NodeClaims(pool))),
				check.Always(check.None(check.NodeClaims(pool).With("for more pods than that", check.RequestingCPUs(tooMany)))))
		},
	}
})
