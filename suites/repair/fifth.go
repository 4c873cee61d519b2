package repair

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter stops repair while more than a fifth of a pool's nodes are unhealthy. It
// resumes afterwards. When so many fail at once, the nodes are not the cause, and new
// nodes would fail too.
//
// Source: designs/node-repair.md, "Forceful termination"; Karpenter's regression suite,
// "resumes repair once the pool drops back under the breaker threshold".
var _ = Suite.Add(e2e.Spec{
	Name: "stops while more than a fifth of a pool is unhealthy",
	// A pool at which repair has stopped is looked at again after five minutes at the latest.
	Within: 8 * time.Minute,
	Run: func(ctx context.Context, env *e2e.Env) {
		many, other := fixtures.NodePool(), fixtures.NodePool()
		nodes := env.Launch(ctx, 5, many, deployment(5, many).OnePodPerNode())
		single := env.Launch(ctx, 1, other, deployment(1, other))

		before := env.Mark()
		env.MakeUnhealthy(ctx, nodes[0], nodes[1], single[0])
		env.Await(ctx, 0, check.Nodes(other).Old(before))
		env.Observe(ctx, karpenter.DisruptionPolled)
		stopped, recovered := env.Since(before), env.Mark()
		env.MakeHealthy(ctx, nodes[0])
		env.Await(ctx, 0, check.Node(nodes[1].Name))

		env.Expect(stopped, sparesAll(env, many), unhealthyNodesGo(env, other))
		env.Expect(env.Since(recovered), repairedOnceDisrupted(env, many))
	},
})
