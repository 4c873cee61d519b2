package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A node that is starting gets no more pods than it has room for. Two pods come, and there is room
// for one of them: the other one gets a node at once, and doesn't wait until the first node is full.
// Here a startup taint keeps the node starting.
//
// Source: https://karpenter.sh/docs/concepts/scheduling; Karpenter:
// pkg/controllers/provisioning/scheduling/existingnode.go, CanAdd.
var _ = Suite.Add(e2e.Spec{
	Name: "launches another node at once for the pods that a starting node has no room for",
	Run: func(ctx context.Context, env *e2e.Env) {
		starting := fixtures.Key("starting")
		pool := fixtures.NodePool().StartupTaint(starting, fixtures.NoSchedule)
		first, app := fixtures.Deployment(1).On(pool), fixtures.Deployment(2).On(pool)
		env.Create(ctx, pool, first)
		node := env.Await(ctx, 1, check.StartingNodes(pool, starting))[0]

		before := env.Mark()
		env.Create(ctx, app.CPU(fixtures.MostCPUs(node.Unstructured(), "0")))
		env.Observe(ctx, karpenter.PodsRetried)
		waiting := env.Since(before)
		env.KeepUntainted(ctx, check.Nodes(pool), starting)
		env.Await(ctx, 2, check.RunningPods(app))

		env.Expect(waiting, check.EndsWith(app, check.Exactly(1, check.NodeClaims(pool).New(before))))
	},
})
