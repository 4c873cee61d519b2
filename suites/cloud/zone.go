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

// A pod that would rather be in a zone that has no capacity gets its node in another one:
// that a zone is full is what the others are there for. That it was asked for first shows
// by the launch that failed.
//
// Source: pkg/cloudprovider/types.go, InsufficientCapacityError: offerings without
// capacity aren't available; https://karpenter.sh/docs/concepts/scheduling, "Preferences".
var _ = Suite.Add(e2e.Spec{
	Name:   "that has no capacity in one zone gives a node in another",
	Needs:  []providers.Capability{providers.NodePools, providers.Zones},
	Hooks:  []providers.HookName{providers.FailNextLaunch},
	Within: 5 * time.Minute,
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().OnDemand()
		first := fixtures.Deployment(1).On(pool)
		full := e2e.About(env.Launch(ctx, 1, pool, first)[0]).Zone
		app := fixtures.Deployment(1).On(pool).PodAntiAffinity(first, corev1.LabelHostname).
			Prefer(1, corev1.LabelTopologyZone, fixtures.In, full)

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
