package provisioning

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter computes a pod's requests as Kubernetes does. They are the larger of the
// containers' sum and the most that an init container needs while it runs. Sidecars count
// from their start. With a lower count the node is too small, and with a higher count the
// user pays for more. Every pod here needs 3 CPUs.
//
// Source: https://kubernetes.io/docs/concepts/workloads/pods/init-containers,
// "Resource sharing within containers"; Kubernetes enhancement 753 (sidecars);
// https://github.com/kubernetes-sigs/karpenter/issues/479.
var _ = e2e.Table(Suite, map[string]countedContainers{
	"init-containers": {what: "counts the largest of several init containers", fill: func(app *fixtures.Workload) {
		app.CPU("1").InitContainer("3").InitContainer("2")
	}},
	"containers": {
		what: "adds up the requests of containers, not those of init containers",
		fill: func(app *fixtures.Workload) { app.CPU("2").Container("1").InitContainer("2") },
	},
	"sidecars": {what: "adds sidecars to the containers", fill: func(app *fixtures.Workload) {
		app.CPU("1").Sidecar("2")
	}},
	"sidecar-before-init": {what: "adds sidecars to the init containers after them", fill: func(app *fixtures.Workload) {
		app.CPU("1").Sidecar("1").InitContainer("2")
	}},
	"sidecar-after-init": {
		what: "doesn't add a sidecar to the init containers before it",
		fill: func(app *fixtures.Workload) { app.CPU("1").InitContainer("3").Sidecar("1") },
	},
	"pod-resources": {
		what: "counts the requests of a pod as a whole", since: "1.34",
		fill: func(app *fixtures.Workload) { app.CPU("1").PodCPU("3") },
		known: []e2e.Known{{
			Releases: ">=1.0.0 <1.8.0", // seen in v1.0.8 and v1.6.4
			Issue:    "https://github.com/kubernetes-sigs/karpenter/pull/2383",
			Reason:   "what a pod requests as a whole isn't counted",
			Breaks: []string{
				"^waited for 1 pod", "launched nodes take pods that they were launched for",
				"pods that wait fit on no node that could be launched",
			},
			Explored: `\n {6}containers:\n( {6}.*\n)* {6}resources:|\n {10}containers:\n( {10}.*\n)* {10}resources:`,
		}},
	},
}, func(row countedContainers) e2e.Spec {
	return e2e.Spec{
		Name:  row.what,
		Since: e2e.Since{Kubernetes: row.since},
		Known: row.known,
		Run: func(ctx context.Context, env *e2e.Env) {
			pool := fixtures.NodePool()
			app := fixtures.Deployment(1).On(pool)
			row.fill(app)

			before := env.Mark()
			env.Create(ctx, pool, app)
			env.Await(ctx, 1, check.RunningPods(app))

			env.Expect(env.Since(before),
				check.Always(check.AtMost(1, check.NodeClaims(pool))),
				check.Always(requestsBetween(check.NodeClaims(pool), corev1.ResourceCPU, "3", "4")))
		},
	}
})

// countedContainers fills a pod with containers that need 3 CPUs in all.
type countedContainers struct {
	what, since string // first release of Kubernetes; empty: any
	fill        func(*fixtures.Workload)
	known       []e2e.Known
}
