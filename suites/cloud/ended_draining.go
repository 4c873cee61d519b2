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

// Karpenter ends the drain of a node when the cloud ends the node's instance. No pod runs
// there any more, so there is nothing to wait for. Otherwise a pod that must not be
// disrupted counts as running for ever, and its workload never starts another.
//
// Source: pkg/controllers/node/termination/controller.go, which asks the cloud for the
// instance of a node that isn't ready.
var _ = Suite.Add(e2e.Spec{
	Name:   "removes a node whose instance the cloud ends during its drain",
	Hooks:  []providers.HookName{providers.TerminateInstance},
	Within: 6 * time.Minute,
	Breaks: endedByCloud,
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app := fixtures.Deployment(1).On(pool).Annotate(karpenter.DoNotDisruptAnnotation, "true")
		node := env.Launch(ctx, 1, pool, app)[0]

		before := env.Mark()
		env.Delete(ctx, env.Await(ctx, 1, check.NodeClaims(pool))[0])
		env.Await(ctx, 1, check.Nodes(pool).Deleting())
		draining := env.Observe(ctx, karpenter.DrainPolled)
		env.Hook(ctx, providers.TerminateInstance, e2e.About(node))
		env.Await(ctx, 0, check.Nodes(pool).Old(before))
		env.Await(ctx, 0, check.NodeClaims(pool).Old(before))

		env.Expect(draining, check.While(check.Nodes(pool).Deleting(), check.Exactly(1, check.RunningPods(app))))
		env.Expect(env.Since(before),
			check.LeadsTo(check.AtLeast(1, check.Nodes(pool).Deleting()), check.None(check.Nodes(pool).Old(before))))
	},
})
