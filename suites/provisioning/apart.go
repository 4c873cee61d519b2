package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Pods of one batch that must not share a node get a node each. Users spread replicas so
// that a dead node takes only one. They need all replicas to run.
//
// Source: pod anti-affinity, https://karpenter.sh/docs/concepts/scheduling,
// "Pod affinity/anti-affinity".
var _ = Suite.Add(e2e.Spec{
	Name: "gives pods that exclude each other a node each",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app := fixtures.Deployment(3).On(pool).OnePodPerNode()

		before := env.Mark()
		env.Create(ctx, pool, app)
		env.Await(ctx, 3, check.RunningPods(app))
		env.Await(ctx, 3, check.ReadyNodes(pool))

		env.Expect(env.Since(before), check.Always(check.AtMost(3, check.NodeClaims(pool))))
	},
})
