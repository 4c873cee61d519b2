package provisioning

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A node has enough of every resource for its pods, and its NodeClaim lists the requested
// amount. A pod without enough memory or storage is killed later. On a node that is full
// of pods, a further pod stays pending.
//
// Source: https://karpenter.sh/docs/concepts/scheduling, "Resource requests";
// spec.resources.requests of the NodeClaim API.
var _ = e2e.Table(Suite, map[string]demand{
	"memory": {"memory", corev1.ResourceMemory, "5Gi", "10Gi", 1, func(w *fixtures.Workload) {
		w.Memory("5Gi")
	}},
	"ephemeral-storage": {
		"ephemeral storage", corev1.ResourceEphemeralStorage, "12Gi", "24Gi", 1,
		func(w *fixtures.Workload) { w.Request("ephemeral-storage", "12Gi") },
	},
	"pods": {"room for pods", corev1.ResourcePods, "20", "40", 20, func(w *fixtures.Workload) {
		w.CPU("10m")
	}},
}, func(row demand) e2e.Spec {
	return e2e.Spec{
		Name: "gives pods one node that has the " + row.what + " that they need",
		Run: func(ctx context.Context, env *e2e.Env) {
			pool := fixtures.NodePool()
			app := fixtures.Deployment(row.pods).On(pool)
			row.ask(app)

			before := env.Mark()
			env.Create(ctx, app)
			env.Await(ctx, row.pods, check.UnschedulablePods(app))
			env.Create(ctx, pool)
			env.AwaitAtLeast(ctx, 1, check.RunningPods(app))
			env.Await(ctx, 0, check.PendingPods(app))

			env.Expect(env.Since(before),
				check.Always(check.AtMost(1, check.NodeClaims(pool))),
				check.Always(requestsBetween(check.NodeClaims(pool), row.name, row.least, row.under)),
				check.Always(check.Each(check.ReadyNodes(pool), "have "+row.least+" of "+string(row.name),
					check.Holding(row.name, row.least))))
		},
	}
})

// A demand is what all pods of a workload request of a resource: least or more. It is
// below under even with the cluster's own daemons.
type demand struct {
	what         string
	name         corev1.ResourceName
	least, under string
	pods         int
	ask          func(*fixtures.Workload)
}
