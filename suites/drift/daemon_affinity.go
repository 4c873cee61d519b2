package drift

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A drifted node is replaced although one of its pods must run beside a daemon. The
// replacement gets the daemon too, so that the pod finds its place there. Users let agents'
// clients run beside the agents, and one such pod must not keep an old, insecure image.
//
// Source: podAffinity of the Pod API; https://karpenter.sh/docs/concepts/disruption, "Drift";
// https://github.com/kubernetes-sigs/karpenter/issues/2984.
var _ = Suite.Add(e2e.Spec{
	Name: "replaces a node whose pod must run beside a daemon",
	Known: []e2e.Known{{
		Releases: ">=1.0.0 <=1.15.0", // seen in v1.15.0
		Issue:    "https://github.com/kubernetes-sigs/karpenter/issues/2984",
		Reason:   "the simulation has no daemons' pods on new nodes, so that the pod finds no place and the node stays",
		Breaks:   []string{"^waited for 1 pod"},
	}},
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		daemon := fixtures.DaemonSet().On(pool)
		app := fixtures.Deployment(1).On(pool).PodAffinity(daemon, corev1.LabelHostname)
		env.Create(ctx, daemon)
		env.Launch(ctx, 1, pool, fixtures.Deployment(1).On(pool))
		env.Await(ctx, 1, check.RunningPods(daemon))
		env.Create(ctx, app)
		env.Await(ctx, 1, check.RunningPods(app))

		before := env.Mark()
		env.Change(ctx, pool.NewTemplate())
		env.Await(ctx, 1, check.RunningPods(app).On(check.ReplacedNodes(pool, before)))
		env.Await(ctx, 0, check.Nodes(pool).Old(before))

		env.Expect(env.Since(before), check.ActsOnDrift(pool),
			check.Always(check.AtMost(1, check.NodeClaims(pool).New(before))))
	},
})
