package cloud

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// Karpenter pauses between the launches for a static pool while the cloud has no capacity,
// and launches its node once there is some. Without pauses it makes and deletes NodeClaims
// as fast as the API server lets it, for as long as the shortage lasts, and serves no other
// pool meanwhile.
//
// Source: designs/static-capacity.md; https://github.com/kubernetes-sigs/karpenter/issues/3198.
var _ = Suite.Add(e2e.Spec{
	Name:  "pauses between a static pool's launches while the cloud has no capacity",
	Needs: []providers.Capability{providers.NodePools, providers.StaticCapacity},
	Hooks: []providers.HookName{providers.FailNextLaunch, providers.ClearFailures},
	Known: []e2e.Known{{
		Releases: ">=1.8.0 <=1.15.0", // seen in v1.15.0
		Issue:    "https://github.com/kubernetes-sigs/karpenter/issues/3198",
		Reason:   "the end of a static pool's failed NodeClaim makes the next one at once",
		Breaks: []string{
			"^always at most 50 launches that the cloud refused", "Karpenter comes to rest when nothing changes",
		},
	}},
	Within: 8 * time.Minute,
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().Replicas(5)

		before := env.Mark()
		env.Hook(ctx, providers.FailNextLaunch)
		env.Create(ctx, pool)
		env.AwaitAtLeast(ctx, 1, refusedLaunches(before))
		env.Observe(ctx, time.Minute)
		without := env.Since(before)
		env.Hook(ctx, providers.ClearFailures)
		env.Await(ctx, 5, check.InitializedNodeClaims(pool))

		env.Expect(without, check.Always(check.AtMost(5*tries, refusedLaunches(before))))
		env.Change(ctx, pool.Replicas(0))
		env.Await(ctx, 0, check.NodeClaims(pool))
	},
})
