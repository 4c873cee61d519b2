package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// Pods with pod affinity for the zone of others get nodes there, also from a pool that excludes
// another zone. Pools leave out a zone that is short of machines. The pods wait for ever if the
// excluded zone is taken for the only one.
//
// Source: podAffinity of the Pod API; NotIn in spec.template.spec.requirements of the NodePool API;
// https://karpenter.sh/docs/concepts/scheduling, "Pod affinity/anti-affinity".
var _ = Suite.Add(e2e.Spec{
	Name:  "puts pods that must be near others into their zone if the pool excludes another one",
	Needs: []providers.Capability{providers.NodePools, providers.Zones},
	Run: func(ctx context.Context, env *e2e.Env) {
		anywhere := fixtures.NodePool()
		avoided, there := env.TwoZones(ctx, anywhere)
		pool := fixtures.NodePool().Require(zone, fixtures.NotIn, avoided)
		leader := fixtures.Deployment(1).On(anywhere).Select(zone, there)
		followers := fixtures.Deployment(2).On(pool).OnePodPerNode().PodAffinity(leader, zone)
		env.Create(ctx, pool, leader)
		env.Await(ctx, 1, check.RunningPods(leader))

		before := env.Mark()
		env.Create(ctx, followers)
		env.Await(ctx, 2, check.RunningPods(followers))

		env.Expect(env.Since(before),
			check.Always(check.AtMost(2, check.NodeClaims(pool))),
			check.Always(check.Each(check.NodeClaims(pool), "require that zone", check.Requiring(zone, there))))
	},
})
