package provisioning

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A pod that is resized in place takes the room that it holds, and the room that it asks for. Its
// kubelet changes it later, and the scheduler counts the larger of both until then. If Karpenter
// counts one alone, it means other pods for a node where the scheduler never lets them run.
//
// Source: https://kubernetes.io/docs/tasks/configure-pod-container/resize-container-resources;
// designs/in-place-pod-vertical-scaling.md; event Nominated.
var _ = e2e.Table(Suite, map[string]resized{
	"held": {
		how: "still holds", since: "1.14",
		sizes: func(most string) (had, asks string) { return most, little },
	},
	"asked": {
		how: "asks for", since: "1.0",
		sizes: func(most string) (had, asks string) { return little, most },
	},
}, func(row resized) e2e.Spec {
	return e2e.Spec{
		Name:  "leaves a resized pod the room that it " + row.how,
		Since: e2e.Since{Karpenter: row.since, Kubernetes: resizing},
		Run: func(ctx context.Context, env *e2e.Env) {
			pool := fixtures.NodePool()
			node := env.Launch(ctx, 1, pool, fixtures.Deployment(1).On(pool))[0]
			most := fixtures.MostCPUs(node.Unstructured(), "0")
			had, asks := row.sizes(most)
			running, late := fixtures.Deployment(1).On(pool).CPU(had), fixtures.Deployment(1).On(pool).CPU(most)
			env.Create(ctx, running)
			pod := env.Await(ctx, 1, check.RunningPods(running))[0]
			env.Resized(ctx, pod, had)
			env.Resize(ctx, pod, asks)
			env.Observe(ctx, karpenter.Settled)

			before := env.Mark()
			env.Create(ctx, late)
			env.Await(ctx, 1, check.RunningPods(late))

			env.Expect(env.Since(before),
				check.Always(check.AtMost(1, check.NodeClaims(pool).New(before))), neverNominated(late, node))
		},
	}
})

// resized is a running pod that was made larger or smaller, beside a pod that requests most of a node's
// CPUs.
type resized struct {
	how, since string // first release of Karpenter
	sizes      func(most string) (had, asks string)
}

// resizing is the first release of Kubernetes in which kubelets resize pods in place by default.
const resizing = "1.33"

// little is a number of CPUs that any node has left.
const little = "10m"

// askingFor matches pods whose first container requests so many CPUs.
func askingFor(cpus string) check.Predicate {
	return func(pod *unstructured.Unstructured) bool {
		containers, _, _ := unstructured.NestedSlice(pod.Object, "spec", "containers")
		asked, _, _ := unstructured.NestedString(containers[0].(map[string]any), "resources", "requests", "cpu")
		return asked == cpus
	}
}
