package upgrade

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// The room of a CapacityBuffer stays over an upgrade, although its nodes are empty, and is not
// made twice. Its users can't wait for a node, and pay for each.
//
// Source: designs/capacity-buffers.md; spec.replicas of the CapacityBuffer API.
var _ = Suite.Add(e2e.Spec{
	Name:   "keeps the room of a buffer",
	Needs:  []providers.Capability{providers.NodePools, providers.CapacityBuffer},
	Gate:   "CapacityBuffer",
	Since:  e2e.Since{Karpenter: karpenter.BuffersSince},
	Within: 5 * time.Minute,
	Known: []e2e.Known{{
		Releases: ">=1.14.0 <1.14.1", // seen in v1.14.0
		Issue:    "https://github.com/kubernetes-sigs/karpenter/issues/3166",
		Reason:   "a buffer's pods have no labels, so that those that exclude each other are given one node",
		Breaks:   []string{`^waited for \d NodeClaims?`},
	}},
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().ConsolidateAfter("10s")
		app := fixtures.Deployment(0).OnePodPerNode().On(pool)
		env.Create(ctx, pool, app, fixtures.CapacityBuffer(app).Pods(2))
		env.Await(ctx, 2, check.InitializedNodeClaims(pool))

		before := env.Mark()
		env.Upgrade(ctx)
		env.Observe(ctx, takenOver)
		upgraded := env.Since(before)
		env.Change(ctx, app.Replicas(1))
		env.Await(ctx, 1, check.RunningPods(app).On(check.Nodes(pool).Old(before)))

		env.Expect(upgraded, check.Always(check.Exactly(2, check.NodeClaims(pool).Staying().Old(before))),
			check.Always(check.Exactly(2, check.NodeClaims(pool))))
		env.Expect(env.Since(before), check.Finally(check.Exactly(1, check.RunningPods(app))))
	},
})
