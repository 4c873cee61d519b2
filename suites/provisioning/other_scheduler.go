package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter launches a node for a pod of another scheduler once that scheduler says that no
// node fits, and not earlier. A scheduler of batch jobs holds pods back until all of a job
// can run, and the nodes of all queued jobs would be idle. Here another pod gets its node
// meanwhile. The spec plays the other scheduler.
//
// Source: schedulerName and condition PodScheduled of the Pod API;
// Karpenter: pkg/utils/pod/scheduling.go, FailedToSchedule.
var _ = Suite.Add(e2e.Spec{
	Name: "launches nothing for a pod of another scheduler before that one finds no node",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool, other := fixtures.NodePool(), fixtures.NodePool()
		queued, free := fixtures.Pod().On(pool).ScheduledBy(fixtures.Domain), fixtures.Pod().On(other)

		before := env.Mark()
		env.Create(ctx, pool, other, queued, free)
		env.Await(ctx, 1, check.RunningPods(free))
		held := env.Since(before)
		env.PatchStatus(ctx, env.Await(ctx, 1, check.PodsOf(queued))[0], fixtures.Unschedulable)
		env.Await(ctx, 1, check.InitializedNodeClaims(pool))

		env.Expect(held, passedOver(pool, queued))
		env.Expect(env.Since(before), check.Always(check.AtMost(1, check.NodeClaims(pool))))
	},
})
