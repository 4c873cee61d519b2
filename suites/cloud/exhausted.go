package cloud

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// While the cloud has no capacity at all, a pod waits, and is tried for now and then and
// not without pause; once there is capacity again it gets its node, and nobody has to
// create it anew. Tries that run away are refused by the cloud for everybody.
//
// Source: pkg/controllers/provisioning/controller.go: a pod that waits is tried for every
// ten seconds; pkg/controllers/nodeclaim/lifecycle/launch.go.
var _ = Suite.Add(e2e.Spec{
	Name:   "that has no capacity for a minute ends with a node for the pod",
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

// tries is how often a pod may be tried for in a little more than a minute, at ten seconds
// each, and a few more since its events make others.
const tries = 10
