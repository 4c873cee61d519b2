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

// A launch that takes a minute longer than usual gives the pod its node, late, and no second
// instance. A provider that waits for its cloud gives up at some time, and Karpenter asks it
// again. It must then know that the first instance is still to come. Clouds take longer when
// they update their own controllers, for example.
//
// Source: pkg/cloudprovider/types.go, Create, which is called until it succeeds;
// pkg/controllers/nodeclaim/lifecycle/liveness.go: a launch has five minutes.
var _ = Suite.Add(e2e.Spec{
	Name:   "ends with one instance for the pod when a launch takes a minute longer",
	Hooks:  []providers.HookName{providers.DelayLaunch, providers.ListInstances},
	Within: 5 * time.Minute,
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app := fixtures.Deployment(1).On(pool)
		env.Create(ctx, pool)
		instances := env.FollowInstances(ctx)

		before := env.Mark()
		env.Hook(ctx, providers.DelayLaunch, providers.HookValues{Count: 1})
		env.Create(ctx, app)
		env.Await(ctx, 1, check.RunningPods(app))
		env.Observe(ctx, time.Minute+karpenter.Settled)

		env.Expect(env.Since(before),
			check.Always(check.AtMost(1, check.NodeClaims(pool))),
			check.Always(check.AtMost(1, instances)),
			check.Finally(check.Exactly(1, check.RunningPods(app).On(check.ReadyNodes(pool)))))
	},
})
