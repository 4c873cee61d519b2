package cloud

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// A pod gets an on-demand node if its pool allows both capacity types and the cloud has
// no spot capacity. Users allow spot to save money, not for an outage. The failed launch
// shows that spot was tried first.
//
// Source: https://karpenter.sh/docs/concepts/nodepools, "Capacity Type";
// pkg/cloudprovider/types.go, InsufficientCapacityError.
var _ = Suite.Add(e2e.Spec{
	Name:   "gives an on-demand node if both capacity types are allowed and the cloud has no spot capacity",
	Needs:  []providers.Capability{providers.NodePools, providers.Spot},
	Hooks:  []providers.HookName{providers.FailNextLaunch},
	Within: 5 * time.Minute,
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().CapacityType(karpenter.Spot, karpenter.OnDemand)
		app := fixtures.Deployment(1).On(pool)
		env.Create(ctx, pool)

		before := env.Mark()
		env.Hook(ctx, providers.FailNextLaunch, providers.HookValues{CapacityType: karpenter.Spot})
		env.Create(ctx, app)
		env.AwaitAtLeast(ctx, 1, refusedLaunches(before))
		env.Await(ctx, 1, check.RunningPods(app).On(check.ReadyNodes(pool)))

		env.Expect(env.Since(before),
			check.Always(check.AtMost(1, check.NodeClaims(pool).Staying())),
			check.LeadsTo(check.AtLeast(1, refusedLaunches(before)),
				check.Exactly(1,
					check.ReadyNodes(pool).With("and on-demand", check.Labeled(karpenter.CapacityTypeLabel, karpenter.OnDemand)))))
	},
})
