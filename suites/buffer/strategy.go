package buffer

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A buffer that names another strategy than active capacity is none of Karpenter's. Clouds offer
// strategies of their own, such as machines that are stopped until they are needed. Whoever asks
// for one must not pay for running nodes as well. A buffer with the default strategy is filled.
//
// Source: spec.provisioningStrategy of the CapacityBuffer API; cluster-autoscaler/proposals/buffers.md
// of kubernetes/autoscaler ("Cloud providers can offer their own buffering strategies");
// designs/capacity-buffers.md, "Goals" and "Non-Goals".
var _ = Suite.Add(e2e.Spec{
	Name: "launches nothing for buffers with a strategy of others",
	Known: []e2e.Known{{
		Releases: ">=1.14.0 <=1.15.0", // seen in v1.14.3 and v1.15.0
		Issue:    e2e.Finding("karpenter-buffers-of-other-strategies"),
		Reason:   "a buffer's strategy is copied into its status, and otherwise ignored",
		Breaks:   []string{"^always at most 1 NodeClaim"},
	}},
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		ours, theirs := fixtures.PodTemplate().OnePodPerNode().On(pool), fixtures.PodTemplate().OnePodPerNode().On(pool)
		env.Create(ctx, pool, ours, theirs)

		before := env.Mark()
		env.Create(ctx, fixtures.CapacityBuffer(theirs).Pods(2).Strategy(fixtures.Key("standby")))
		env.Observe(ctx, karpenter.Settled)
		env.Create(ctx, fixtures.CapacityBuffer(ours).Pods(1))
		env.AwaitAtLeast(ctx, 1, check.InitializedNodeClaims(pool))
		env.Observe(ctx, karpenter.Settled)

		env.Expect(env.Since(before), check.Always(check.AtMost(1, check.NodeClaims(pool))))
	},
})
