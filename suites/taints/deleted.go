package taints

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A node that a user deletes gets no new pods while it is drained, whatever taints it has from its pool.
// Nothing but Karpenter's own taint keeps them off: Kubernetes schedules pods to a node that is being
// deleted, and those for this pool tolerate its taint. They would be evicted at once, or hold the drain.
// Here a pod that ends slowly makes the drain last.
//
// Source: designs/no-schedule-taint.md, taint karpenter.sh/disrupted:NoSchedule;
// https://karpenter.sh/docs/concepts/disruption, "Termination Controller" and "Manual Methods".
var _ = Suite.Add(e2e.Spec{
	Name: "keep new pods off a node with taints of its pool that a user deletes",
	Run: func(ctx context.Context, env *e2e.Env) {
		reserved := fixtures.Key("reserved")
		pool := fixtures.NodePool().Taint(reserved, fixtures.NoSchedule)
		app := fixtures.Pod().On(pool).Tolerate(reserved).Lingering()
		late := fixtures.Deployment(2).On(pool).Tolerate(reserved)
		nodes := env.Launch(ctx, 1, pool, fixtures.Deployment(1).On(pool).Tolerate(reserved))
		env.Create(ctx, app)
		env.Await(ctx, 1, check.RunningPods(app))

		before := env.Mark()
		env.Delete(ctx, nodes[0])
		pod := env.Await(ctx, 1, check.PodsOf(app).Deleting())[0]
		env.Create(ctx, late)
		env.Await(ctx, 2, check.RunningPods(late).On(check.ReplacedNodes(pool, before)))
		env.RemoveFinalizers(ctx, pod)
		env.Await(ctx, 0, check.Nodes(pool).Old(before))

		draining, old := check.PodsOf(app).Deleting(), check.Nodes(pool).Old(before)
		disrupted := old.With("with the disrupted taint", check.Tainted(karpenter.DisruptedTaint))
		env.Expect(env.Since(before),
			check.While(draining, check.Exactly(1, disrupted.With("and that of the pool", check.Tainted(reserved)))),
			check.While(draining, check.None(check.BoundPods(late).On(old))))
	},
})
