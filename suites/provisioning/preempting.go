package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter launches nothing for a pod for which the scheduler clears a node. The pod runs
// there as soon as the less important pod has ended, and a new node would come too late.
// Here the less important pod takes its time to end.
//
// Source: status.nominatedNodeName of the Pod API;
// https://kubernetes.io/docs/concepts/scheduling-eviction/pod-priority-preemption;
// Karpenter: pkg/utils/pod/scheduling.go, IsPreempting.
var _ = Suite.Add(e2e.Spec{
	Name: "launches nothing for a pod that takes the place of a less important one",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool, class := fixtures.NodePool(), fixtures.PriorityClass(1000)
		minor := fixtures.Pod().On(pool).HostPort(port).Lingering()
		urgent := fixtures.Deployment(1).On(pool).HostPort(port).Priority(class.GetName())
		env.Create(ctx, pool, class, minor)
		env.Await(ctx, 1, check.RunningPods(minor))

		before := env.Mark()
		env.Create(ctx, urgent)
		env.Await(ctx, 1, check.UnschedulablePods(urgent))
		leaving := env.Await(ctx, 1, check.PodsOf(minor).Deleting())[0]
		env.Observe(ctx, karpenter.PodsRetried)
		env.RemoveFinalizers(ctx, leaving)
		env.Await(ctx, 1, check.RunningPods(urgent))

		env.Expect(env.Since(before), check.Always(check.AtMost(1, check.NodeClaims(pool))),
			check.While(check.PodsOf(minor).Deleting(), check.None(check.BoundPods(urgent))))
	},
})
