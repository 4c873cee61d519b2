package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter launches nothing for pods that are deleted before it could launch a node. A
// Deployment that is deleted because its NodePool was full must not cost money when there
// is room again.
//
// Source: https://karpenter.sh/docs/concepts/scheduling: nodes are launched for
// pods that the Kubernetes scheduler marked as unschedulable.
var _ = Suite.Add(e2e.Spec{
	Name: "launches nothing for pods that were deleted before it could",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().Limit("cpu", "0")
		gone, late := fixtures.Deployment(3).On(pool).OnePodPerNode(), fixtures.Deployment(1).On(pool)

		before := env.Mark()
		env.Create(ctx, pool, gone)
		env.AwaitAtLeast(ctx, 1, noFitEvents(gone))
		env.Delete(ctx, gone)
		env.Await(ctx, 0, check.PodsOf(gone))
		env.Change(ctx, pool.Limit("cpu", "100"))
		env.Create(ctx, late)
		env.Await(ctx, 1, check.RunningPods(late))
		env.Observe(ctx, karpenter.Settled)

		env.Expect(env.Since(before), check.Always(check.AtMost(1, check.NodeClaims(pool))))
	},
})
