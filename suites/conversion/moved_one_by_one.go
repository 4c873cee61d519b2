package conversion

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// When an administrator deletes the nodes of a v1beta1 pool one at a time, the pods of each go to the
// v1 successor, which has more weight. The other nodes keep their pods, however long the
// administrator waits. So users move a careful workload at their own pace.
//
// Source: designs/v1beta1-api.md of Karpenter v0.32, "Manual Rolling".
var _ = Suite.Add(e2e.Spec{
	Name: "moves node by node to a v1 successor when a v1beta1 pool's nodes are deleted",
	Run: func(ctx context.Context, env *e2e.Env) {
		app, from, to := fleet()
		nodes := env.Launch(ctx, pods, from, app)
		env.Create(ctx, to.Write("spec.weight", "10"))

		before := env.Mark()
		env.Delete(ctx, nodes[0])
		env.Await(ctx, 1, check.RunningPods(app).On(check.ReadyNodes(to)))
		env.Await(ctx, pods-1, check.NodeClaims(from))
		rest := env.Observe(ctx, karpenter.Settled)
		env.Expect(rest,
			check.Always(check.Exactly(1, check.RunningPods(app).On(check.ReadyNodes(to)))),
			check.Always(check.Exactly(pods-1, check.RunningPods(app).On(check.ReadyNodes(from)))))

		env.Delete(ctx, nodes[1])
		env.Await(ctx, 0, check.NodeClaims(from))
		env.Await(ctx, pods, check.RunningPods(app).On(check.ReadyNodes(to)))
		env.Expect(env.Since(before),
			check.LeadsTo(check.AtLeast(1, check.Nodes(from).Deleting()), movesAll(app, from, to)))
	},
})
