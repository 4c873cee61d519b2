package api

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter reports a NodePool's number of nodes, and their total CPU and memory, in its
// status. The status changes when nodes come and when they go. Limits are compared with
// it, and people who pay read it.
//
// Source: status.resources of the NodePool API.
var _ = Suite.Add(e2e.Spec{
	Name:   "reports the number of a pool's nodes and their resources in its status",
	Within: 90 * time.Second,
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().Consolidate(fixtures.WhenEmpty)
		app := fixtures.Deployment(2).OnePodPerNode().On(pool)
		before := env.Mark()
		env.Create(ctx, pool, app)
		env.Await(ctx, 2, check.RunningPods(app))
		nodes := env.Await(ctx, 2, check.InitializedNodes(pool))
		env.Await(ctx, 1, poolReporting(pool, nodes...))

		env.Change(ctx, app.Replicas(0))
		env.Await(ctx, 0, check.Nodes(pool))
		env.Await(ctx, 1, poolReporting(pool))

		env.Expect(env.Since(before),
			check.LeadsTo(check.Exactly(2, check.ReadyNodes(pool)), check.Exactly(1, poolReporting(pool, nodes...))),
			check.LeadsTo(check.AtLeast(1, check.DisruptedNodes(pool)), check.Exactly(1, poolReporting(pool))))
	},
})

// poolReporting counts a pool if its status reports these nodes and the total of their resources.
func poolReporting(pool check.Object, nodes ...*history.Object) check.Count {
	wanted := map[corev1.ResourceName]resource.Quantity{
		"nodes": *resource.NewQuantity(int64(len(nodes)), resource.DecimalSI),
	}
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		sum := wanted[name]
		for _, node := range nodes {
			sum.Add(karpenter.Capacity(node.Unstructured(), name))
		}
		wanted[name] = sum
	}
	return check.The(pool).With("that count what they have", func(o *unstructured.Unstructured) bool {
		for name, quantity := range wanted {
			if said, found := total(o, name); !found || said.Cmp(quantity) != 0 {
				return false
			}
		}
		return true
	})
}

// total returns status.resources[name] of a pool.
func total(pool *unstructured.Unstructured, name corev1.ResourceName) (resource.Quantity, bool) {
	text, found, err := unstructured.NestedString(pool.Object, "status", "resources", string(name))
	if !found || err != nil {
		return resource.Quantity{}, false
	}
	q, err := resource.ParseQuantity(text)
	return q, err == nil
}
