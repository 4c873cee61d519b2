package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A NodePool at its limit of nodes launches no more nodes for later pods. Users that pay
// by node, as for agents and licenses, rely on it.
//
// Source: spec.limits.nodes of the NodePool API; enforced by the scheduler
// since https://github.com/kubernetes-sigs/karpenter/pull/2526.
var _ = Suite.Add(e2e.Spec{
	Name:  "never exceeds a limit of nodes from one batch to the next",
	Since: e2e.Since{Karpenter: karpenter.NodeLimitsSince},
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().Limit("nodes", "2")
		app := fixtures.Deployment(2).On(pool).OnePodPerNode()
		late := fixtures.Deployment(2).On(pool).OnePodPerNode().CPU("3")

		before := env.Mark()
		env.Create(ctx, pool, app)
		env.Await(ctx, 2, check.ReadyNodes(pool))
		full := env.Mark()
		env.Create(ctx, late)
		env.AwaitAtLeast(ctx, 1, decisions(late, pool, full))
		limited := env.Since(before)
		env.Change(ctx, pool.Limit("nodes", "4"))
		env.Await(ctx, 2, check.RunningPods(late))

		env.Expect(limited, check.Always(check.AtMost(2, check.NodeClaims(pool))))
	},
})
