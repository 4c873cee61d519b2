package provisioning

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A pod that must run beside a daemon gets a node, since each new node gets the daemon too.
// The pod waits for ever if Karpenter looks for the daemon on the nodes of today only.
//
// Source: podAffinity of the Pod API; https://karpenter.sh/docs/concepts/scheduling,
// "Pod affinity/anti-affinity"; https://github.com/kubernetes-sigs/karpenter/issues/2984.
var _ = Suite.Add(e2e.Spec{
	Name: "gives a node to a pod that must run beside a daemon",
	Known: []e2e.Known{{
		Releases: ">=1.0.0 <=1.15.0", // seen in v1.15.0
		Issue:    "https://github.com/kubernetes-sigs/karpenter/issues/2984",
		Reason:   "the simulation has no daemons' pods on new nodes, so that the pod finds no place",
		Breaks:   []string{"^waited for 1 pod"},
	}},
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		daemon := fixtures.DaemonSet().On(pool)
		app := fixtures.Deployment(1).On(pool).PodAffinity(daemon, corev1.LabelHostname)

		before := env.Mark()
		env.Create(ctx, daemon, pool, app)
		env.Await(ctx, 1, check.RunningPods(app))

		env.Expect(env.Since(before), check.Always(check.AtMost(1, check.NodeClaims(pool))))
	},
})
