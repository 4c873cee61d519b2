package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// A pod that fits on a node that is there runs on it. Launching another node
// for it would make every small pod cost a machine.
//
// Source: https://karpenter.sh/docs/concepts/scheduling: nodes are launched for
// pods that the scheduler cannot place.
var _ = Suite.Add(e2e.Spec{
	Name:  "uses the room on nodes that are there",
	Needs: []providers.Capability{providers.NodePools},
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		first := fixtures.Deployment(1).On(pool).CPU("100m")
		second := fixtures.Deployment(2).On(pool).CPU("100m")

		before := env.Now()
		env.Create(ctx, pool, first)
		env.Await(ctx, 1, check.ReadyNodes(pool))
		env.Create(ctx, second)
		env.Await(ctx, 2, check.RunningPods(second))

		env.Expect(env.Since(before), check.Always(check.AtMost(1, check.NodeClaims(pool))))
	},
})
