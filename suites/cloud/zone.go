package cloud

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// A pod that prefers a zone without capacity gets a node in another zone. A full zone
// must not keep pods pending. The failed launch shows that the provider tried the
// preferred zone first.
//
// Source: pkg/cloudprovider/types.go, InsufficientCapacityError: offerings without
// capacity aren't available; https://karpenter.sh/docs/concepts/scheduling, "Preferences".
var _ = Suite.Add(e2e.Spec{
	Name:   "gives a node in another zone where the cloud has no capacity in one",
	Needs:  []providers.Capability{providers.NodePools, providers.Zones},
	Hooks:  []providers.HookName{providers.FailNextLaunch},
	Within: 5 * time.Minute,
	Run: func(ctx context.Context, env *e2e.Env) {
		pool, app, full := inAZoneToFill(ctx, env)

		before := env.Mark()
		env.Hook(ctx, providers.FailNextLaunch, providers.HookValues{Zone: full})
		env.Create(ctx, app)
		env.AwaitAtLeast(ctx, 1, refusedLaunches(before))
		env.Await(ctx, 1, check.RunningPods(app))

		env.Expect(env.Since(before),
			check.Always(check.AtMost(2, check.NodeClaims(pool).Staying())),
			check.Always(check.Each(check.Nodes(pool).New(before), "are in another zone",
				check.Labeled(corev1.LabelTopologyZone, full).Not())),
			check.LeadsTo(check.AtLeast(1, refusedLaunches(before)), check.Exactly(1, check.RunningPods(app))))
	},
})

// inAZoneToFill launches a node of a new pool, and returns its zone and an app that prefers it. The
// app is not created yet, and needs another node.
func inAZoneToFill(ctx context.Context, env *e2e.Env) (pool *fixtures.Pool, app *fixtures.Workload, zone string) {
	pool = fixtures.NodePool().OnDemand()
	first := fixtures.Deployment(1).On(pool)
	zone = e2e.About(env.Launch(ctx, 1, pool, first)[0]).Zone
	app = fixtures.Deployment(1).On(pool).PodAntiAffinity(first, corev1.LabelHostname).
		Prefer(1, corev1.LabelTopologyZone, fixtures.In, zone)
	return pool, app, zone
}
