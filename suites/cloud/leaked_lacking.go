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

// What a NodeClass selects is needed for launches alone. While the cloud lacks it, the provider
// goes on to end instances that have no NodeClaim. Otherwise a tag that is removed by mistake, of
// one NodeClass, makes instances of all NodeClasses run on, and cost money.
//
// Source: pkg/cloudprovider/types.go: List retrieves all NodeClaims from the cloud; condition
// NodeClassReady of the NodePool API, which is about launches.
var _ = Suite.Add(e2e.Spec{
	Name: "deletes an instance without a NodeClaim while the cloud lacks what a NodeClass selects",
	Needs: []providers.Capability{
		providers.NodePools, providers.InstanceGC, providers.NodeClassReadiness,
	},
	Hooks: []providers.HookName{
		providers.UnreadyNodeClass, providers.ReadyNodeClass, providers.LeakInstance, providers.ListInstances,
	},
	Within: 8 * time.Minute,
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app := fixtures.Deployment(1).On(pool)
		instances := env.FollowInstances(ctx)
		env.Launch(ctx, 1, pool, app)
		env.Await(ctx, 1, instances)

		before := env.Mark()
		leaked := instances.New(before)
		env.Hook(ctx, providers.UnreadyNodeClass)
		env.Await(ctx, 1, unreadyPool(pool))
		env.Hook(ctx, providers.LeakInstance)
		env.Await(ctx, 1, leaked)
		env.Observe(ctx, env.Bound(providers.InstanceGC)+karpenter.Settled)
		lacking := env.Since(before)
		env.Hook(ctx, providers.ReadyNodeClass)
		env.Await(ctx, 0, leaked)

		env.Expect(lacking,
			check.Within(env.Bound(providers.InstanceGC), check.LeadsTo(check.AtLeast(1, leaked), check.None(leaked))),
			check.While(leaked, check.AtLeast(1, unreadyPool(pool))),
			check.Always(check.Exactly(1, check.RunningPods(app))))
	},
})
