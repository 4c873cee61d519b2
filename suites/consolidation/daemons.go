package consolidation

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A node is empty if only DaemonSet pods run on it. They come and go with the node, and
// each node has them. If they counted, no node would be empty in a cluster with an agent
// on every node.
//
// Source: spec.disruption.consolidationPolicy of the NodePool API;
// https://karpenter.sh/docs/concepts/disruption, "Consolidation".
var _ = Suite.Add(e2e.Spec{
	Name: "treats a node with daemons alone as empty",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app, daemon := fixtures.Deployment(1).On(pool), fixtures.DaemonSet().On(pool)
		env.Create(ctx, daemon, pool, app)
		env.Await(ctx, 1, check.RunningPods(app))
		env.Await(ctx, 1, check.RunningPods(daemon))

		before := env.Mark()
		env.Delete(ctx, app)
		env.Change(ctx, pool.Consolidate(fixtures.WhenEmpty))
		env.Await(ctx, 0, check.Nodes(pool))

		env.Expect(env.Since(before), check.LeadsTo(
			check.AllOf(check.None(check.PodsOf(app)), check.AtLeast(1, check.RunningPods(daemon))),
			check.AtLeast(1, check.RunningPods(daemon).On(check.DisruptedNodes(pool)))))
	},
})
