package provisioning

import (
	"context"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A NodePool keeps its limit whichever of the allowed instance types the provider launches: the
// smaller ones may be out of stock. Here two pods of one batch need a node each, and the limit
// leaves room for a large and a small one. At most one NodeClaim may become large.
//
// Source: spec.limits of the NodePool API; Karpenter:
// pkg/controllers/provisioning/scheduling/scheduler.go, subtractMax.
var _ = Suite.Add(e2e.Spec{
	Name: "keeps a limit whichever of the allowed instance types are launched",
	Run: func(ctx context.Context, env *e2e.Env) {
		sizes, pool := fixtures.NodePool(), fixtures.NodePool()
		env.Create(ctx, sizes, fixtures.Pod().On(sizes).CPU("3"))
		large := env.Await(ctx, 1, check.ReadyNodes(sizes))[0].Unstructured()
		first := env.Mark()
		env.Create(ctx, fixtures.Pod().On(sizes).CPU("500m").
			Require(instanceType, fixtures.NotIn, karpenter.InstanceType(large)))
		small := env.Await(ctx, 1, check.ReadyNodes(sizes).New(first))[0].Unstructured()
		app := fixtures.Deployment(2).On(pool).CPU("500m").OnePodPerNode()
		env.Create(ctx, app)
		env.Await(ctx, 2, check.UnschedulablePods(app))

		before := env.Mark()
		env.Create(ctx, pool.Limit("cpu", cpus(large, small)).
			Require(instanceType, fixtures.In, karpenter.InstanceType(small), karpenter.InstanceType(large)))
		env.Await(ctx, 2, check.RunningPods(app))

		env.Expect(env.Since(before), check.Always(check.AtMost(2, check.NodeClaims(pool))),
			check.Always(check.AtMost(1, check.NodeClaims(pool).With("that may be large", mayBe(large)))))
	},
})

// cpus returns the CPUs of both nodes together. Those that a node has for pods are rounded up to
// those of its machine.
func cpus(one, other *unstructured.Unstructured) string {
	free, more := karpenter.Allocatable(one, corev1.ResourceCPU), karpenter.Allocatable(other, corev1.ResourceCPU)
	return strconv.FormatInt(free.Value()+more.Value(), 10)
}

// mayBe matches NodeClaims that allow the instance type of a node.
func mayBe(node *unstructured.Unstructured) check.Predicate {
	return func(nodeClaim *unstructured.Unstructured) bool {
		return slices.Contains(karpenter.NodeClaimRequired(nodeClaim, instanceType), karpenter.InstanceType(node))
	}
}
