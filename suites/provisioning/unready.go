package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// A pool launches nothing while its NodeClass isn't ready, and serves waiting pods once
// it is. Images, subnets and roles must exist before a machine does. Otherwise, the
// machine costs money and never joins.
//
// Source: conditions NodeClassReady and Ready of the NodePool API;
// https://github.com/kubernetes-sigs/karpenter/issues/557.
var _ = Suite.Add(e2e.Spec{
	Name:  "launches nothing while the NodeClass isn't ready",
	Needs: []providers.Capability{providers.NodePools, providers.NodeClassReadiness},
	Hooks: []providers.HookName{providers.UnreadyNodeClass, providers.ReadyNodeClass},
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app := fixtures.Deployment(1).On(pool)

		env.Create(ctx, pool)
		env.Hook(ctx, providers.UnreadyNodeClass)
		env.Await(ctx, 0, check.The(pool).In(karpenter.Ready))
		before := env.Mark()
		env.Create(ctx, app)
		env.Observe(ctx, karpenter.PodsRetried)
		unready := env.Since(before)
		env.Hook(ctx, providers.ReadyNodeClass)
		env.Await(ctx, 1, check.RunningPods(app))

		env.Expect(unready, passedOver(pool, app))
		env.Expect(env.Since(before), check.Always(check.AtMost(1, check.NodeClaims(pool))))
	},
})
