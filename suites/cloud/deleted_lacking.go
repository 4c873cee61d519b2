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

// A node can be deleted while the cloud lacks what its NodeClass selects, although its kubelet is
// silent. No launch is needed for that. Karpenter asks the cloud whether the instance is still
// there, and ends it.
//
// Source: pkg/controllers/node/termination: a node that isn't ready is drained if its instance
// exists; finalizer karpenter.sh/termination.
var _ = Suite.Add(e2e.Spec{
	Name:   "deletes a node that isn't ready while the cloud lacks what its NodeClass selects",
	Needs:  []providers.Capability{providers.NodePools, providers.NodeClassReadiness},
	Hooks:  []providers.HookName{providers.UnreadyNodeClass, providers.ReadyNodeClass},
	Within: 6 * time.Minute,
	Run: func(ctx context.Context, env *e2e.Env) {
		const ended = time.Minute // a cloud takes some seconds
		pool := fixtures.NodePool()
		app := fixtures.Deployment(1).On(pool)
		node := env.Launch(ctx, 1, pool, app)[0]
		env.Delete(ctx, app)
		env.Await(ctx, 0, check.PodsOf(app))

		before := env.Mark()
		env.Hook(ctx, providers.UnreadyNodeClass)
		env.Await(ctx, 1, unreadyPool(pool))
		env.Patch(ctx, node, fixtures.NoKubelet)
		env.PatchStatus(ctx, node, fixtures.NotReady(time.Now()))
		env.Await(ctx, 0, check.ReadyNodes(pool))
		env.Delete(ctx, node)
		env.Observe(ctx, ended+karpenter.Settled)
		lacking := env.Since(before)
		env.Hook(ctx, providers.ReadyNodeClass)

		going, unready := check.NodeClaims(pool).Deleting(), check.AtLeast(1, unreadyPool(pool))
		env.Expect(lacking, check.While(going, unready),
			check.Within(ended, check.LeadsTo(check.AtLeast(1, going), check.None(check.NodeClaims(pool)))))
	},
})
