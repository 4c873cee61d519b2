package cloud

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// The labels of a node describe its instance as the cloud does. Pods are scheduled by
// these labels. With a wrong label, a pod lacks the GPU or the memory that it asks for.
//
// Source: https://karpenter.sh/docs/concepts/scheduling, "Well-Known Labels"; the labels of
// the provider's NodeClass API.
var _ = Suite.Add(e2e.Spec{
	Name:  "describes the machines of its nodes in labels",
	Hooks: []providers.HookName{providers.NodeLabels},
	Run: func(ctx context.Context, env *e2e.Env) {
		small, large := fixtures.NodePool(), fixtures.NodePool()
		before := env.Mark()
		env.Create(ctx, small, large, fixtures.Deployment(1).On(small), fixtures.Deployment(1).CPU("7").On(large))
		env.Await(ctx, 1, check.InitializedNodes(small))
		env.Await(ctx, 1, check.InitializedNodes(large))

		env.Expect(env.Since(before), labeledAsPromised(ctx, env, small), labeledAsPromised(ctx, env, large))
	},
})

// labeledAsPromised checks that the pool's node has all labels that the cloud reports for
// its instance, from the moment when the node is initialized.
func labeledAsPromised(ctx context.Context, env *e2e.Env, pool *fixtures.Pool) check.Check {
	node := env.Await(ctx, 1, check.InitializedNodes(pool))[0]
	promised := env.TypeLabels(ctx, karpenter.NodeProviderID(node.Unstructured()))
	return check.Always(check.Each(check.InitializedNodes(pool), "are labeled as their machines are", allOf(promised)))
}

// allOf tells whether an object has all of these labels. It is false without labels.
func allOf(labels map[string]string) check.Predicate {
	return func(o *unstructured.Unstructured) bool {
		for key, value := range labels {
			if karpenter.Label(o, key) != value {
				return false
			}
		}
		return len(labels) > 0
	}
}
