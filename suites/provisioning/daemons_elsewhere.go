package provisioning

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter reserves no room on a new node for DaemonSet pods that will not run there, neither when
// it chooses the node nor for more pods while it starts. Otherwise the agents of large nodes would
// make every node large, or launch a second one beside a node with room.
//
// Source: https://karpenter.sh/docs/concepts/scheduling;
// https://github.com/kubernetes-sigs/karpenter/issues/532.
var _ = e2e.Table(Suite, map[string]strangers{
	"selector": {"select other nodes", func(_ *fixtures.Pool, daemon *fixtures.Workload) { daemon.Select(team, "blue") }},
	"affinity": {"require other nodes", func(_ *fixtures.Pool, daemon *fixtures.Workload) {
		daemon.Require(team, fixtures.NotIn, "red")
	}},
	"taints": {"don't tolerate its taints", func(pool *fixtures.Pool, _ *fixtures.Workload) {
		pool.Taint(team, fixtures.NoSchedule)
	}},
}, func(row strangers) e2e.Spec {
	return e2e.Spec{
		Name: "leaves no room on a node for daemons that " + row.how,
		Run: func(ctx context.Context, env *e2e.Env) {
			starting := fixtures.Key("starting")
			pool := fixtures.NodePool().Label(team, "red").StartupTaint(starting, fixtures.NoSchedule)
			daemon := fixtures.DaemonSet().On(pool).CPU("6")
			row.part(pool, daemon)
			first, second := fixtures.Deployment(1).On(pool).Tolerate(team), fixtures.Deployment(1).On(pool).Tolerate(team)

			before := env.Mark()
			env.Create(ctx, pool, daemon)
			env.Create(ctx, first)
			env.Await(ctx, 1, check.StartingNodes(pool, starting))
			env.Create(ctx, second)
			env.Observe(ctx, karpenter.Settled)
			env.KeepUntainted(ctx, check.Nodes(pool), starting)
			env.Await(ctx, 1, check.RunningPods(second))

			env.Expect(env.Since(before),
				check.Always(check.AtMost(1, check.NodeClaims(pool))),
				check.Always(requestsBetween(check.NodeClaims(pool), corev1.ResourceCPU, "100m", "2")))
		},
	}
})

// strangers is a pool and a DaemonSet without pods on its nodes.
type strangers struct {
	how  string
	part func(pool *fixtures.Pool, daemon *fixtures.Workload)
}
