package buffer

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// New pods run on the buffer's nodes and do not wait for new nodes. A buffer has no other
// use.
//
// Source: designs/capacity-buffers.md; Karpenter's regression suite, "should allow
// consumer pods to use existing buffer capacity and then refill".
var _ = Suite.Add(e2e.Spec{
	Name:  "gives its room to new pods",
	Known: sharedNode,
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app := fixtures.Deployment(0).OnePodPerNode().On(pool)
		env.Create(ctx, pool, app, fixtures.CapacityBuffer(app).Pods(2))
		env.Await(ctx, 2, check.InitializedNodeClaims(pool))

		before := env.Mark()
		env.Change(ctx, app.Replicas(2))
		env.Await(ctx, 2, check.RunningPods(app))

		env.Expect(env.Since(before),
			check.Whenever(check.Enters(check.BoundPods(app)), "its node was there before the pods were",
				func(pod *unstructured.Unstructured) check.Claim {
					return check.Exactly(1, check.Node(karpenter.PodNode(pod)).Old(before))
				}))
	},
})
