package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter launches nothing for pods that must not run on its nodes, and says nothing of them.
// Such are its own replicas. It isn't their scheduler, and a warning about each of them hides
// those about pods that wait for it.
//
// Source: label karpenter.sh/nodepool; Karpenter: pkg/controllers/provisioning/provisioner.go,
// GetPendingPods.
var _ = Suite.Add(e2e.Spec{
	Name:  "says nothing of pods that must not run on its nodes",
	Since: e2e.Since{Karpenter: "1.9"},
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		avoiding := fixtures.Deployment(1).Require(karpenter.NodePoolLabel, fixtures.DoesNotExist)
		app, hopeless := fixtures.Deployment(1).On(pool), fixtures.Deployment(1).On(pool).Select(nowhere, "true")

		before := env.Mark()
		env.Create(ctx, pool, avoiding, app, hopeless)
		env.Await(ctx, 1, check.RunningPods(app))
		env.AwaitAtLeast(ctx, 1, noFitEvents(hopeless))
		env.Observe(ctx, karpenter.PodsRetried)

		env.Expect(env.Since(before), check.Always(check.AtMost(1, check.NodeClaims(pool))),
			check.Always(check.None(noFitEvents(avoiding).AmongObjects(check.PodsOf(avoiding)))))
	},
})
