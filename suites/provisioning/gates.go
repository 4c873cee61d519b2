package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A pod with scheduling gates gets no node until the gates are removed. Otherwise a queue
// that admits jobs one by one pays for the nodes of all jobs. Here another pod gets its
// node meanwhile.
//
// Source: schedulingGates of the Pod API; Karpenter: pkg/utils/pod/scheduling.go,
// IsProvisionable, by which nodes are launched for unschedulable pods only.
var _ = Suite.Add(e2e.Spec{
	Name: "launches nothing for a pod before its scheduling gates are lifted",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool, other := fixtures.NodePool(), fixtures.NodePool()
		gated, free := fixtures.Pod().On(pool).Gated(fixtures.Key("admitted")), fixtures.Pod().On(other)

		before := env.Mark()
		env.Create(ctx, pool, other, gated, free)
		env.Await(ctx, 1, check.RunningPods(free))
		held := env.Since(before)
		pod := env.Await(ctx, 1, check.PodsOf(gated))[0]
		env.Patch(ctx, pod, `{"spec":{"schedulingGates":null}}`)
		env.Await(ctx, 1, check.RunningPods(gated))

		env.Expect(held, passedOver(pool, gated))
		env.Expect(env.Since(before), check.Always(check.AtMost(1, check.NodeClaims(pool))))
	},
})
