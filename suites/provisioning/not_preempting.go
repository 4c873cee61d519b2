package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter launches a node for an important pod that must not displace others. The scheduler
// clears no node for it, so it would wait until a less important pod ends by itself. Users give
// such a priority to work that should be queued first and interrupt nothing.
//
// Source: preemptionPolicy of the PriorityClass API;
// https://kubernetes.io/docs/concepts/scheduling-eviction/pod-priority-preemption, "Non-preempting
// PriorityClass"; Karpenter: pkg/utils/pod/scheduling.go, IsProvisionable.
var _ = Suite.Add(e2e.Spec{
	Name: "launches a node for an important pod that must not displace others",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool, class := fixtures.NodePool(), fixtures.NonPreemptingClass(1000)
		minor := fixtures.Deployment(1).On(pool).HostPort(port)
		urgent := fixtures.Deployment(1).On(pool).HostPort(port).Priority(class.GetName())
		env.Create(ctx, pool, class, minor)
		env.Await(ctx, 1, check.RunningPods(minor))

		before := env.Mark()
		env.Create(ctx, urgent)
		env.Await(ctx, 1, check.RunningPods(urgent))

		env.Expect(env.Since(before), check.Always(check.AtMost(1, check.NodeClaims(pool).New(before))))
	},
})
