package provisioning

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A new node has room for daemons whatever kinds of affinity they have, as long as it is a
// node for them. The DaemonSet controller adds a rule of its own to the affinity of each pod,
// for the node that the pod is meant for.
//
// Source: https://karpenter.sh/docs/concepts/scheduling;
// https://kubernetes.io/docs/concepts/workloads/controllers/daemonset, "How daemon pods are scheduled".
var _ = e2e.Table(Suite, map[string]inclined{
	"required": {"require a node like it", func(daemon *fixtures.Workload) {
		daemon.Require(corev1.LabelOSStable, fixtures.Exists)
	}},
	"alternative": {"require a node like it in their second term", func(daemon *fixtures.Workload) {
		daemon.Require(team, fixtures.In, "blue").OrRequire(corev1.LabelOSStable, fixtures.Exists)
	}},
	"preferred": {"prefer other nodes", func(daemon *fixtures.Workload) {
		daemon.Prefer(1, team, fixtures.In, "blue")
	}},
	"pods": {"must be apart from pods that are elsewhere", func(daemon *fixtures.Workload) { daemon.OnePodPerNode() }},
}, func(row inclined) e2e.Spec {
	return e2e.Spec{
		Name: "leaves room on a node for daemons that " + row.how,
		Run: func(ctx context.Context, env *e2e.Env) {
			pool := fixtures.NodePool()
			daemon, app := fixtures.DaemonSet().On(pool).CPU("2"), fixtures.Deployment(1).On(pool).CPU("1")
			row.incline(daemon)

			before := env.Mark()
			env.Create(ctx, pool, daemon)
			env.Create(ctx, app)
			env.Await(ctx, 1, check.RunningPods(app))
			env.Observe(ctx, karpenter.Settled)

			env.Expect(env.Since(before),
				check.LeadsTo(check.AtLeast(1, check.RunningPods(app)), check.AtLeast(1, check.RunningPods(daemon))),
				check.Always(check.AtMost(1, check.NodeClaims(pool))),
				check.Always(requestsBetween(check.NodeClaims(pool), corev1.ResourceCPU, "3", "4")))
		},
	}
})

// inclined is a kind of affinity that daemons have.
type inclined struct {
	how     string
	incline func(daemon *fixtures.Workload)
}
