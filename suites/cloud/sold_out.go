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

// Nodes stay while the cloud has no more instances of their kind. They run, and it would be
// absurd to replace them for the very reason that there are no others. A provider that takes
// what is sold out off its list makes them drift an hour after their launch.
//
// Source: pkg/cloudprovider/types.go, Offering.Available: what is sold out stays on the list;
// pkg/controllers/nodeclaim/disruption/drift.go, instanceTypeNotFound.
var _ = Suite.Add(e2e.Spec{
	Name:   "keeps nodes of a kind that is sold out",
	Needs:  []providers.Capability{providers.NodePools, providers.Zones},
	Hooks:  []providers.HookName{providers.FailNextLaunch},
	Within: 100 * time.Minute,
	Labels: []string{"slow"},
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app := fixtures.Deployment(1).On(pool)
		full := e2e.About(env.Launch(ctx, 1, pool, app)[0]).Zone
		waits := fixtures.Deployment(1).On(pool).PodAntiAffinity(app, corev1.LabelHostname).
			Select(corev1.LabelTopologyZone, full)

		before := env.Mark()
		env.Hook(ctx, providers.FailNextLaunch, providers.HookValues{Zone: full})
		env.Create(ctx, waits)
		env.AwaitAtLeast(ctx, 1, refusedLaunches(before))
		env.Observe(ctx, 75*time.Minute)

		env.Expect(env.Since(before),
			check.Always(check.None(check.DriftedNodeClaims(pool))),
			check.Always(check.Exactly(1, check.ReadyNodes(pool).Old(before))),
			check.Always(check.Exactly(1, check.RunningPods(app))))
	},
})
