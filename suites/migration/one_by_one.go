package migration

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// When an administrator deletes the old NodePool's nodes one at a time, only the pods of
// each deleted node move. The others keep running, however long the administrator waits.
// The moved pods run in the NodePool with more weight.
//
// Source: designs/v1beta1-api.md of Karpenter v0.32, "Manual Rolling";
// https://karpenter.sh/docs/concepts/disruption, "Manual Methods".
var _ = Suite.Add(e2e.Spec{
	Name: "moves node by node when a pool's nodes are deleted one at a time",
	Run: func(ctx context.Context, env *e2e.Env) {
		app := workload()
		from, to := poolFor(app), poolFor(app).Weight(10)
		runOn(ctx, env, from, app)
		env.Create(ctx, to)
		nodes := env.Await(ctx, pods, check.Nodes(from))

		before := env.Mark()
		env.Delete(ctx, nodes[0])
		env.Await(ctx, 1, check.RunningPods(app).On(check.ReadyNodes(to)))
		env.Await(ctx, pods-1, check.NodeClaims(from))
		env.Expect(env.Since(before),
			check.LeadsTo(check.AtLeast(1, check.Nodes(from).Deleting()),
				check.Exactly(1, check.RunningPods(app).On(check.ReadyNodes(to)))),
			check.While(check.Nodes(from).Deleting(), check.AtLeast(1, check.RunningPods(app).On(undisruptedNodes(from)))))

		second := env.Mark()
		env.Delete(ctx, nodes[1])
		env.Await(ctx, 0, check.NodeClaims(from))
		env.Await(ctx, pods, check.RunningPods(app).On(check.ReadyNodes(to)))
		env.Expect(env.Since(second), check.LeadsTo(check.AtLeast(1, check.Nodes(from).Deleting()), allPodsOn(app, to)))
	},
})

// undisruptedNodes counts the undisrupted nodes of a pool.
func undisruptedNodes(pool *fixtures.Pool) check.Count {
	return check.Nodes(pool).With("that nobody disrupts", func(node *unstructured.Unstructured) bool {
		return !karpenter.Deleting(node) && !karpenter.HasTaint(node, karpenter.DisruptedTaint)
	})
}
