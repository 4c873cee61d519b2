package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Pods that arrive while a node is starting wait for this node if it has room. Another
// node for each new pod would double a cluster during every scale-up. Here a startup
// taint keeps the node starting.
//
// Source: https://karpenter.sh/docs/concepts/scheduling; startup taints "are
// ignored for provisioning purposes" (spec.template.spec.startupTaints).
var _ = Suite.Add(e2e.Spec{
	Name: "uses nodes that are still starting for further pods",
	Run: func(ctx context.Context, env *e2e.Env) {
		starting := fixtures.Key("starting")
		pool := fixtures.NodePool().StartupTaint(starting, fixtures.NoSchedule)
		first, second := fixtures.Deployment(1).On(pool), fixtures.Deployment(2).On(pool)

		before := env.Mark()
		env.Create(ctx, pool, first)
		env.Await(ctx, 1, check.StartingNodes(pool, starting))
		env.Create(ctx, second)
		env.Observe(ctx, karpenter.Settled)
		env.KeepUntainted(ctx, check.Nodes(pool), starting)
		env.Await(ctx, 2, check.RunningPods(second))

		env.Expect(env.Since(before), check.Always(check.AtMost(1, check.NodeClaims(pool))))
	},
})
