package buffer

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A buffer's nodes are replaced when they drift, and its room is there again. That holds also while a
// pod waits that fits nowhere, for which Karpenter looks again and again where all pods would run. No
// pod is about to run on the buffer's nodes, so that nothing keeps them. Otherwise the nodes that
// are there for the next rush would have the oldest image of all.
//
// Source: designs/capacity-buffers.md, "Drift and expiry: allowed — buffer refills after node
// replacement"; Karpenter: pkg/controllers/provisioning/scheduling/scheduler.go, Record.
var _ = Suite.Add(e2e.Spec{
	Name:  "has its nodes replaced when they drift, although a pod waits that fits on none",
	Known: sharedNode,
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app, hopeless := fixtures.Deployment(0).OnePodPerNode().On(pool), fixtures.Deployment(1).On(pool).CPU("100k")
		env.Create(ctx, pool, app, hopeless, fixtures.CapacityBuffer(app).Pods(2))
		env.Await(ctx, 2, check.InitializedNodeClaims(pool))
		env.Observe(ctx, karpenter.PodsRetried)

		before := env.Mark()
		env.Change(ctx, pool.NewTemplate())
		env.Await(ctx, 2, check.ReplacedNodes(pool, before))
		env.Await(ctx, 0, check.Nodes(pool).Old(before))

		env.Expect(env.Since(before), check.ActsOnDrift(pool),
			check.While(check.DisruptedNodes(pool), check.Exactly(1, check.UnschedulablePods(hopeless))),
			check.LeadsTo(check.AtLeast(1, check.DisruptedNodes(pool)), check.Exactly(2, check.ReplacedNodes(pool, before))))
	},
})
