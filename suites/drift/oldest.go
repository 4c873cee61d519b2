package drift

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Of several drifted nodes, Karpenter begins with the one that drifted first. Where a budget allows one
// at a time, a node that has waited for longest is the next, and none waits for ever behind those that
// drift later. Here one node is of a rack that the pool no longer has, and all drift a while later.
//
// Source: designs/drift-per-nodepool-backoff.md: "drift candidates are sorted strictly by drift age
// (oldest first)"; condition Drifted of the NodeClaim API.
var _ = Suite.Add(e2e.Spec{
	Name: "begins with the node that drifted first",
	Run: func(ctx context.Context, env *e2e.Env) {
		rack := fixtures.Key("rack")
		pool := fixtures.NodePool().Require(rack, fixtures.In, "a").Budget("0")
		app := fixtures.Deployment(1).OnePodPerNode().On(pool)
		first := env.Launch(ctx, 1, pool, app)[0]
		env.Change(ctx, pool.Require(rack, fixtures.In, "b"))
		env.Await(ctx, 1, check.DriftedNodeClaims(pool))
		env.Change(ctx, app.Replicas(5))
		env.Await(ctx, 5, check.RunningPods(app))
		env.Await(ctx, 5, check.InitializedNodeClaims(pool))
		env.Change(ctx, pool.NewTemplate())
		env.Await(ctx, 5, check.DriftedNodeClaims(pool))
		env.Observe(ctx, karpenter.NominationOver)

		before := env.Mark()
		chosen := check.Node(first.Name).With("that are disrupted", check.Tainted(karpenter.DisruptedTaint))
		env.Change(ctx, pool.NoBudgets().Budget("1"))
		env.Await(ctx, 1, chosen)

		later := check.Nodes(pool).With("that drifted later", func(node *unstructured.Unstructured) bool {
			return node.GetName() != first.Name
		})
		env.Expect(env.Since(before), check.Until(
			check.None(later.With("and are disrupted", check.Tainted(karpenter.DisruptedTaint))), check.AtLeast(1, chosen)))
	},
})
