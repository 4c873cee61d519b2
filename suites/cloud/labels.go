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

// A node says in its labels what its machine is, as the cloud has it: pods are placed by
// that, and whoever asked for a GPU, or for much memory, and got a label of it has nothing.
//
// Source: https://karpenter.sh/docs/concepts/scheduling, "Well-Known Labels"; the labels of
// the provider's NodeClass API.
var _ = Suite.Add(e2e.Spec{
	Name:  "says of its nodes in labels what their machines are",
	Needs: []providers.Capability{providers.NodePools},
	Hooks: []providers.HookName{providers.NodeLabels},
	Run: func(ctx context.Context, env *e2e.Env) {
		small, large := fixtures.NodePool(), fixtures.NodePool()
		before := env.Now()
		env.Create(ctx, small, large, fixtures.Deployment(1).On(small), fixtures.Deployment(1).CPU("7").On(large))
		env.Await(ctx, 1, initializedNodes(small))
		env.Await(ctx, 1, initializedNodes(large))

		env.Expect(env.Since(before), labeledAsPromised(ctx, env, small), labeledAsPromised(ctx, env, large))
	},
})

// labeledAsPromised checks that the pool's node has, from when it is initialized on, all
// labels that the cloud says it has by its machine.
func labeledAsPromised(ctx context.Context, env *e2e.Env, pool *fixtures.Pool) check.Check {
	node := env.Await(ctx, 1, initializedNodes(pool))[0]
	promised := env.TypeLabels(ctx, karpenter.NodeProviderID(node.Unstructured()))
	return check.Always(check.Each(initializedNodes(pool), "are labeled as their machines are", func(o *unstructured.Unstructured) bool {
		for key, value := range promised {
			if karpenter.Label(o, key) != value {
				return false
			}
		}
		return len(promised) > 0
	}))
}

// initializedNodes counts a pool's nodes that Karpenter has found to be ready for work: it has
// given them all their labels by then.
func initializedNodes(pool *fixtures.Pool) check.Count {
	return check.NodesWith(pool, check.Labeled(karpenter.InitializedLabel, "true"), "that are initialized")
}
