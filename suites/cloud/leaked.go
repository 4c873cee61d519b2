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

// The provider ends an instance that has no NodeClaim, in the time that it promises. Such
// an instance costs money and runs nothing. The provider must end no other instance by
// mistake.
//
// Source: pkg/cloudprovider/types.go: List retrieves all NodeClaims from the cloud, by
// which a provider finds those that have none in the cluster; the adapter's capability
// instanceGC.
var _ = Suite.Add(e2e.Spec{
	Name:   "deletes an instance that has no NodeClaim, and no other",
	Needs:  []providers.Capability{providers.NodePools, providers.InstanceGC},
	Hooks:  []providers.HookName{providers.LeakInstance, providers.ListInstances},
	Within: 5 * time.Minute,
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app := fixtures.Deployment(2).OnePodPerNode().On(pool)
		instances := env.FollowInstances(ctx)
		env.Launch(ctx, 2, pool, app)
		env.Await(ctx, 2, instances)

		before := env.Mark()
		leaked := instances.New(before)
		env.Hook(ctx, providers.LeakInstance)
		env.Await(ctx, 1, leaked)
		env.Await(ctx, 0, leaked)
		env.Await(ctx, 2, check.Nodes(pool))
		env.Observe(ctx, karpenter.PodsRetried)

		env.Expect(env.Since(before),
			check.Within(env.Bound(providers.InstanceGC), check.LeadsTo(check.AtLeast(1, leaked), check.None(leaked))),
			check.Always(check.Exactly(2, instances.Old(before))),
			check.Always(check.Exactly(2, check.RunningPods(app))),
			check.Always(check.None(check.NodeClaims(pool).Deleting())))
	},
})
