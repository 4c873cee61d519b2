package buffer

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A buffer that is made smaller releases only the nodes that it no longer needs. The
// remaining room must still be there for new pods.
//
// Source: spec.replicas of the CapacityBuffer API; designs/capacity-buffers.md;
// Karpenter's regression suite, "should scale buffer down when replicas are reduced".
var _ = Suite.Add(e2e.Spec{
	Name:  "releases only the nodes that it no longer needs when it shrinks",
	Known: sharedNode,
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().Consolidate(fixtures.WhenEmpty)
		app := fixtures.Deployment(0).OnePodPerNode().On(pool)
		buffer := fixtures.CapacityBuffer(app).Pods(3)
		env.Create(ctx, pool, app, buffer)
		env.Await(ctx, 3, check.InitializedNodeClaims(pool))

		before := env.Mark()
		env.Change(ctx, buffer.Pods(1))
		env.Await(ctx, 1, check.Nodes(pool))
		env.Observe(ctx, karpenter.DisruptionPolled)

		env.Expect(env.Since(before),
			check.LeadsTo(check.AtLeast(1, check.DisruptedNodes(pool)), check.Exactly(1, check.Nodes(pool))),
			check.While(check.The(buffer).With("for one pod", forOnePod), check.AtLeast(1, check.ReadyNodes(pool))),
			check.Always(check.None(check.NodeClaims(pool).New(before))))
	},
})

// forOnePod tells whether a buffer's spec asks for room for one pod.
func forOnePod(buffer *unstructured.Unstructured) bool {
	replicas, _, _ := unstructured.NestedInt64(buffer.Object, "spec", "replicas")
	return replicas == 1
}
