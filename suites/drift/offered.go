package drift

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// Nodes don't drift while their instance type is offered in their zone, however old they
// are. From an hour after the launch on, Karpenter looks for the type and the zone of a node
// among the instance types, by the name of the type. A provider that lists a type once for
// each zone makes it look into one zone only, and the nodes in all others are replaced
// for nothing, hour by hour.
//
// Source: pkg/controllers/nodeclaim/disruption/drift.go, instanceTypeNotFound.
var _ = Suite.Add(e2e.Spec{
	Name:   "leaves nodes alone whose type is offered in their zone, however old they are",
	Needs:  []providers.Capability{providers.NodePools, providers.Zones},
	Within: 90 * time.Minute,
	Labels: []string{"slow"},
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app := fixtures.Deployment(4).On(pool).OnePodPerNode().Spread(fixtures.TopologySpread(corev1.LabelTopologyZone))
		env.Create(ctx, pool, app)
		env.Await(ctx, 4, check.RunningPods(app))
		env.Await(ctx, 4, check.InitializedNodeClaims(pool))

		before := env.Mark()
		env.Observe(ctx, 75*time.Minute)

		env.Expect(env.Since(before),
			check.Always(check.None(check.DriftedNodeClaims(pool))),
			check.Always(check.Exactly(4, check.NodeClaims(pool).Old(before))),
			check.Always(check.Exactly(4, check.RunningPods(app))))
	},
})
