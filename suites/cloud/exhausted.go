package cloud

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// While the cloud has no capacity at all, Karpenter retries the launch for a pending pod,
// with pauses. Once there is capacity, the pod gets its node and need not be created
// again. Without pauses, the cloud would refuse everybody's calls.
//
// Source: pkg/controllers/provisioning/controller.go: a pod that waits is tried for every
// ten seconds; pkg/controllers/nodeclaim/lifecycle/launch.go.
var _ = Suite.Add(e2e.Spec{
	Name:   "gives the pod a node after the cloud had no capacity for a minute",
	Hooks:  []providers.HookName{providers.FailNextLaunch, providers.ClearFailures},
	Within: 8 * time.Minute,
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app := fixtures.Deployment(1).On(pool)
		env.Create(ctx, pool)

		before := env.Mark()
		env.Hook(ctx, providers.FailNextLaunch)
		env.Create(ctx, app)
		env.AwaitAtLeast(ctx, 1, refusedLaunches(before))
		env.Observe(ctx, time.Minute)
		without := env.Since(before)
		env.Hook(ctx, providers.ClearFailures)
		env.Await(ctx, 1, check.RunningPods(app))

		env.Expect(without,
			check.Always(check.None(check.Nodes(pool))),
			check.Always(check.AtMost(tries, refusedLaunches(before))),
			check.Always(check.AtMost(1, check.NodeClaims(pool).Staying())))
		env.Expect(env.Since(before),
			check.Always(check.AtMost(1, check.Nodes(pool))),
			check.LeadsTo(check.AtLeast(1, refusedLaunches(before)), check.Exactly(1, check.RunningPods(app))))
	},
})

// tries bounds the attempts for a pod in a little over a minute: one every ten seconds, and a
// few that its events cause.
const tries = 10
