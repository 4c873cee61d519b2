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

// A cloud that replaces an instance on its own, as groups of instances do when they are rolled out
// or repaired, costs the pod a restart and leaves one instance. The instance that took the place
// of the first belongs to no NodeClaim. It is either taken over or ended; else it runs, unused and
// paid for, for ever.
//
// Source: pkg/controllers/nodeclaim/garbagecollection, for NodeClaims without an instance;
// pkg/cloudprovider/types.go, List: "returns all of the NodeClaims from the cloudprovider".
var _ = Suite.Add(e2e.Spec{
	Name:   "ends with one instance for the pod when the cloud replaces its instance",
	Hooks:  []providers.HookName{providers.ReplaceInstance, providers.ListInstances},
	Within: 8 * time.Minute,
	Breaks: endedByCloud,
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app := fixtures.Deployment(1).On(pool)
		node := env.Launch(ctx, 1, pool, app)[0]
		instances := env.FollowInstances(ctx)

		before := env.Mark()
		env.Hook(ctx, providers.ReplaceInstance, e2e.About(node))
		env.Await(ctx, 0, check.Nodes(pool).Old(before))
		env.Await(ctx, 1, check.RunningPods(app).On(check.ReadyNodes(pool)))
		env.Await(ctx, 1, instances)
		env.Observe(ctx, karpenter.Settled)

		env.Expect(env.Since(before),
			check.Finally(check.Exactly(1, instances)),
			check.Finally(check.Exactly(1, check.NodeClaims(pool))),
			check.LeadsTo(check.None(check.Nodes(pool).Old(before)), check.Exactly(1, check.RunningPods(app))))
	},
})
