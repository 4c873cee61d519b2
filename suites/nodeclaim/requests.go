package nodeclaim

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

// What a NodeClaim requests the node can hold: allocatable, not just installed,
// since what requested it is going to run there and there is no pod yet by which
// anybody would notice.
//
// Source: spec.resources.requests of the NodeClaim API, "the minimum resources
// required to be launched".
var _ = Suite.Add(e2e.Spec{
	Name: "gets a node that can hold what it requests",
	Run: func(ctx context.Context, env *e2e.Env) {
		claim := fixtures.NodeClaim().Request("cpu", "3").Request("memory", "5Gi")
		ready := newNodes(env, claim).With("that are ready", karpenter.NodeReady)

		before := env.Mark()
		env.Create(ctx, claim)
		env.Await(ctx, 1, ready)

		env.Expect(env.Since(before), check.Always(check.Each(ready, "can hold what is requested", holds("3", "5Gi"))))
	},
})

// holds says whether that much of a node is allocatable.
func holds(cpu, memory string) check.Predicate {
	enough := func(node *unstructured.Unstructured, name corev1.ResourceName, quantity string) bool {
		allocatable := karpenter.Allocatable(node, name)
		return allocatable.Cmp(resource.MustParse(quantity)) >= 0
	}
	return func(node *unstructured.Unstructured) bool {
		return enough(node, corev1.ResourceCPU, cpu) && enough(node, corev1.ResourceMemory, memory)
	}
}
