package provisioning

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A pod that no node has room for gets a node that has: it is why anybody runs
// Karpenter. One node is enough for it; a second one would be paid for nothing.
//
// Source: https://karpenter.sh/docs/concepts/scheduling, "Resource requests".
var _ = Suite.Add(e2e.Spec{
	Name: "gives a pending pod a node that fits",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app := fixtures.Deployment(1).On(pool).CPU("3").Memory("5Gi")

		before := env.Mark()
		env.Create(ctx, pool, app)
		env.Await(ctx, 1, check.RunningPods(app))

		env.Expect(env.Since(before),
			check.Always(check.AtMost(1, check.NodeClaims(pool))),
			check.Always(check.Each(check.ReadyNodes(pool), "have 3 CPUs and 5Gi for pods", func(node *unstructured.Unstructured) bool {
				cpus, bytes := karpenter.Allocatable(node, corev1.ResourceCPU), karpenter.Allocatable(node, corev1.ResourceMemory)
				return cpus.Cmp(resource.MustParse("3")) >= 0 && bytes.Cmp(resource.MustParse("5Gi")) >= 0
			})),
		)
	},
})
