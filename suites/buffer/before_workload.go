package buffer

import (
	"context"
	"slices"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A buffer that comes before its Deployment is filled once the Deployment comes. Tools
// that apply a folder of manifests promise no order.
//
// Source: spec.scalableRef of the CapacityBuffer API; designs/capacity-buffers.md;
// https://github.com/kubernetes-sigs/karpenter/releases/tag/v1.14.3.
var _ = Suite.Add(e2e.Spec{
	Name: "is filled though its workload comes later",
	Known: append(slices.Clone(sharedNode), e2e.Known{
		Releases: ">=1.14.1 <1.14.3", // seen in v1.14.1
		Issue:    "https://github.com/kubernetes-sigs/karpenter/pull/3028",
		Reason:   "Karpenter looks for a missing workload only every 30 s",
		Breaks:   []string{"leads to exactly 2 NodeClaims"},
	}),
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app := fixtures.Deployment(0).OnePodPerNode().On(pool)
		buffer := fixtures.CapacityBuffer(app).Pods(2)
		env.Create(ctx, pool, buffer)
		env.Observe(ctx, karpenter.Settled)

		before := env.Mark()
		env.Create(ctx, app)
		env.Await(ctx, 2, check.InitializedNodeClaims(pool))

		env.Expect(env.Since(before), check.Within(2*karpenter.Settled,
			check.LeadsTo(check.AtLeast(1, check.The(buffer)), check.Exactly(2, check.NodeClaims(pool)))))
	},
})
