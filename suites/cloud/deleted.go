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

// The provider ends the instance of a deleted node even if the cloud is slow or its data
// is old. It repeats refused calls. It knows that a listed instance may have ended. The
// pod gets one other node, and only one. A forgotten instance costs money.
//
// Source: pkg/cloudprovider/types.go, Delete, which is called until there is no instance;
// finalizer karpenter.sh/termination.
var _ = e2e.Table(Suite, strains(), func(s strain) e2e.Spec {
	return e2e.Spec{
		Name:   "ends the instance of a deleted node when the cloud " + s.how,
		Hooks:  []providers.HookName{s.hook, providers.ClearFailures, providers.ListInstances},
		Within: 6 * time.Minute,
		Run: func(ctx context.Context, env *e2e.Env) {
			pool := fixtures.NodePool()
			app := fixtures.Deployment(1).On(pool)
			instances := env.FollowInstances(ctx)
			node := env.Launch(ctx, 1, pool, app)[0]
			env.Await(ctx, 1, instances)

			before := env.Mark()
			env.Hook(ctx, s.hook, s.about)
			env.Delete(ctx, node)
			env.Await(ctx, 0, check.NodeClaims(pool).Old(before))
			env.Await(ctx, 1, check.RunningPods(app).On(check.ReplacedNodes(pool, before)))
			env.Await(ctx, 0, instances.Old(before))
			env.Hook(ctx, providers.ClearFailures)
			env.Observe(ctx, karpenter.PodsRetried)

			env.Expect(env.Since(before),
				check.Always(check.AtMost(1, check.NodeClaims(pool).New(before))),
				check.Always(check.AtMost(1, instances.New(before))),
				check.LeadsTo(check.AtLeast(1, check.NodeClaims(pool).Deleting()), check.None(check.NodeClaims(pool).Deleting())),
				check.Finally(check.Exactly(1, instances)))
		},
	}
})
