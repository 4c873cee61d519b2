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

// A launch that neither succeeds nor fails is given up, by the provider or by Karpenter after
// five minutes, and the pod gets another node. A provider that waits for its cloud without an
// end keeps Karpenter from giving up, and the pod waits for ever.
//
// Source: pkg/controllers/nodeclaim/lifecycle/liveness.go, LaunchTimeout.
var _ = Suite.Add(e2e.Spec{
	Name:   "gives the pod a node although a launch never comes to an end",
	Hooks:  []providers.HookName{providers.StallLaunch, providers.ListInstances},
	Since:  e2e.Since{Karpenter: "1.7"},
	Within: 12 * time.Minute,
	Labels: []string{"slow"},
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app := fixtures.Deployment(1).On(pool)
		env.Create(ctx, pool)
		instances := env.FollowInstances(ctx)

		before := env.Mark()
		env.Hook(ctx, providers.StallLaunch, providers.HookValues{Count: 1})
		env.Create(ctx, app)
		env.Await(ctx, 1, check.RunningPods(app))
		env.Observe(ctx, karpenter.Settled)

		env.Expect(env.Since(before),
			check.Always(check.AtMost(1, check.NodeClaims(pool).Staying())),
			check.Always(check.AtMost(1, instances)),
			check.LeadsTo(check.AtLeast(1, check.NodeClaims(pool)), check.Exactly(1, check.RunningPods(app))))
	},
})
