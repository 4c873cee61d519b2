package cloud

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// Karpenter waits while a pod takes an hour to end, but not when the pod's instance is gone:
// nothing of the pod runs there any more. Otherwise the node stays for the hour, and each
// DaemonSet has a pod on it that never starts.
//
// Source: pkg/controllers/node/termination/controller.go, which asks the cloud for the
// instance of a node that isn't ready.
var _ = Suite.Add(e2e.Spec{
	Name:   "removes a node whose instance the cloud has ended although its pod takes an hour to end",
	Hooks:  []providers.HookName{providers.TerminateInstance},
	Within: 4 * time.Minute,
	Breaks: endedByCloud,
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app := fixtures.Pod().On(pool).GracePeriod(3600)
		node := env.Launch(ctx, 1, pool, app)[0]
		env.PauseKubelets(ctx) // the node's would end the pod at once

		before := env.Mark()
		env.Hook(ctx, providers.TerminateInstance, e2e.About(node))
		env.Await(ctx, 0, check.Nodes(pool).Old(before))
		env.Await(ctx, 0, check.NodeClaims(pool).Old(before))

		env.Expect(env.Since(before),
			check.LeadsTo(check.AtLeast(1, check.NodeClaims(pool).Deleting()), check.None(check.Nodes(pool).Old(before))))
	},
})
