package deletioncost

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A workload that shrinks gives up the pods of one node before those of another. The node is
// empty then, and is removed without moving a pod. Without these costs a ReplicaSet takes a
// pod from each node in turn. No node becomes empty, and all of them stay.
//
// Source: designs/pod-deletion-cost-controller.md, "Scale-down concentrates deletions on the
// consolidation target".
var _ = Suite.Add(e2e.Spec{
	Name:   "let a workload that shrinks empty one node after the other",
	Within: within,
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().Consolidate(fixtures.WhenEmpty)
		room := fixtures.Deployment(2).On(pool).OnePodPerNode().CPU("1")
		app := fixtures.Deployment(4).On(pool).Spread(fixtures.TopologySpread(corev1.LabelHostname))
		env.Launch(ctx, 2, pool, room)
		env.Create(ctx, app)
		env.Await(ctx, 4, check.RunningPods(app))
		env.Delete(ctx, room)
		env.Observe(ctx, ranked)

		before := env.Mark()
		env.Change(ctx, app.Replicas(2))
		env.Await(ctx, 2, check.PodsOf(app))
		env.Observe(ctx, removed)

		env.Expect(env.Since(before), check.Finally(check.Exactly(1, check.Nodes(pool))),
			check.Always(check.None(check.PodsOf(app).New(before))))
	},
})
