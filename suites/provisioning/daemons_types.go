package provisioning

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A DaemonSet that runs on some instance types only, such as those with GPUs, takes nothing
// from others. A pod that its pods leave no room for gets a node of another type.
//
// Source: https://karpenter.sh/docs/concepts/scheduling;
// https://github.com/kubernetes-sigs/karpenter/issues/715.
var _ = e2e.Table(Suite, map[string]partly{
	"room": {"room", func(daemon, _ *fixtures.Workload) { daemon.CPU("1000") }},
	"port": {"their host port", func(daemon, app *fixtures.Workload) { daemon.HostPort(port); app.HostPort(port) }},
}, func(row partly) e2e.Spec {
	return e2e.Spec{
		Name: "gives a pod a node of a type where no daemons take " + row.what + " from it",
		Known: []e2e.Known{{
			Releases: ">=1.0.0 <1.14.0", // seen in v1.0.8 and v1.6.4; by the source up to v1.13.0
			Issue:    "https://github.com/kubernetes-sigs/karpenter/issues/715",
			Reason:   "a daemon of some instance types of a pool is counted on all of them",
			Breaks:   []string{"^waited for 1 pod"},
		}},
		Run: func(ctx context.Context, env *e2e.Env) {
			first, pool := fixtures.NodePool(), fixtures.NodePool()
			env.Create(ctx, first, fixtures.Deployment(1).On(first))
			usual := karpenter.Label(env.Await(ctx, 1, check.ReadyNodes(first))[0].Unstructured(), instanceType)
			daemon := fixtures.DaemonSet().On(pool).Require(instanceType, fixtures.In, usual)
			app := fixtures.Deployment(1).On(pool)
			row.take(daemon, app)

			before := env.Mark()
			env.Create(ctx, pool, daemon)
			env.Create(ctx, app)
			env.Await(ctx, 1, check.RunningPods(app))

			env.Expect(env.Since(before),
				check.Always(check.AtMost(1, check.NodeClaims(pool))),
				check.Always(check.None(check.NodeClaims(pool).With("of type "+usual, check.Labeled(instanceType, usual)))),
				check.Always(requestsBetween(check.NodeClaims(pool), corev1.ResourceCPU, "100m", "2")))
		},
	}
})

const instanceType = corev1.LabelInstanceTypeStable

// partly is what the pods of a DaemonSet leave nothing of on the instance types where they run.
type partly struct {
	what string
	take func(daemon, app *fixtures.Workload)
}
