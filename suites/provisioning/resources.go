package provisioning

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A node has what its pods ask for of every resource, and its NodeClaim says how
// much that is: a pod that asks for memory or storage that isn't there is killed
// for it later, and one that finds a node full of pods waits beside it.
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
			env.Await(ctx, row.pods, waiting(app))
			env.Create(ctx, pool)
			env.AwaitAtLeast(ctx, 1, check.RunningPods(app))
			env.Await(ctx, 0, check.PendingPods(app))

			env.Expect(env.Since(before),
				check.Always(check.AtMost(1, check.NodeClaims(pool))),
				check.Always(asking(check.NodeClaims(pool), row.name, row.least, row.under)),
				check.Always(check.Each(check.ReadyNodes(pool), "have "+row.least+" of "+string(row.name),
					check.Holding(row.name, row.least))))
		},
	}
})

// A demand is what a workload's pods ask for together of a resource: so much at
// least, daemons of the cluster's own included less than under.
type demand struct {
	what         string
	name         corev1.ResourceName
	least, under string
	pods         int
	ask          func(*fixtures.Workload)
}
