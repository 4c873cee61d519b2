package deletioncost

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// The pods of a node that is being drained have the lowest deletion cost there is. The node
// goes anyway, so a workload that shrinks should give up these pods. Here the drain waits for
// a pod that must not be disrupted, and the workload ends it by itself.
//
// Source: designs/pod-deletion-cost-controller.md, "Draining".
var _ = Suite.Add(e2e.Spec{
	Name:   "are the lowest there are on a node that is being drained",
	Within: within,
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := quietPool()
		app := fixtures.Deployment(2).On(pool).OnePodPerNode().Annotate(karpenter.DoNotDisruptAnnotation, "true")
		nodes := env.Launch(ctx, 2, pool, app)

		before := env.Mark()
		env.Delete(ctx, nodes[0])
		env.Await(ctx, 1, check.Nodes(pool).Deleting())
		env.Observe(ctx, ranked)
		env.Expect(env.Since(before),
			check.Finally(check.Exactly(1, costingAt(lowest, app).On(check.Nodes(pool).Deleting()))))
		env.Change(ctx, app.Replicas(1))
		env.Await(ctx, 0, check.Node(nodes[0].Name))

		env.Expect(env.Since(before),
			check.Always(check.Exactly(1, check.RunningPods(app).Old(before).On(check.Node(nodes[1].Name)))))
	},
})
