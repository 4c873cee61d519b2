package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A pod may be created on a node, past the scheduler. Karpenter counts what it requests there as
// that of any other pod. Otherwise the next pod would wait for room that is taken, and never get a
// node. Here there is room for one of two pods.
//
// Source: nodeName of the Pod API; https://karpenter.sh/docs/concepts/scheduling;
// Karpenter: pkg/controllers/state/cluster.go, updateNodeUsageFromPod.
var _ = Suite.Add(e2e.Spec{
	Name: "gives no pod the room of one that was created on a node past the scheduler",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		first, app := fixtures.Deployment(1).On(pool), fixtures.Deployment(1).On(pool)
		env.Create(ctx, pool, first)
		env.Await(ctx, 1, check.RunningPods(first))
		node := env.Await(ctx, 1, check.ReadyNodes(pool))[0]
		most := fixtures.MostCPUs(node.Unstructured(), "100m")
		placed := fixtures.Pod().OnNode(node.Name).CPU(most)
		env.Create(ctx, placed)
		env.Await(ctx, 1, check.RunningPods(placed))

		before := env.Mark()
		env.Create(ctx, app.CPU(most))
		env.Await(ctx, 1, check.RunningPods(app).On(check.Nodes(pool).New(before)))

		env.Expect(env.Since(before), check.Always(check.AtMost(1, check.NodeClaims(pool).New(before))))
	},
})
