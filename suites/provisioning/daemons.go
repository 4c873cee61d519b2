package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A new node has room for its DaemonSet pods, even for those that wait until it is
// initialized. An agent that never fits is missing on just the nodes that were launched
// for small pods. No other node comes for it.
//
// Source: https://github.com/kubernetes-sigs/karpenter/pull/2161, label
// karpenter.sh/initialized.
var _ = Suite.Add(e2e.Spec{
	Name: "leaves room for daemons that start only after their node is initialized",
	Known: []e2e.Known{{
		Releases: ">=1.0.0 <=1.13.0", // seen in v1.0.8, v1.6.4, v1.9.0 and v1.13.0
		Issue:    "https://github.com/kubernetes-sigs/karpenter/pull/2161",
		Reason:   "a new node is chosen without room for daemons that select karpenter.sh/initialized",
		Breaks:   []string{"leads to at least 1 pods?"},
	}},
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		daemon := fixtures.DaemonSet().On(pool).Select(karpenter.InitializedLabel, "true").CPU("4")
		app := fixtures.Deployment(1).On(pool)

		before := env.Mark()
		env.Create(ctx, pool, daemon)
		env.Create(ctx, app)
		env.Await(ctx, 1, check.RunningPods(app))
		env.Observe(ctx, karpenter.Settled)

		env.Expect(env.Since(before),
			check.LeadsTo(check.AtLeast(1, check.RunningPods(app)), check.AtLeast(1, check.RunningPods(daemon))),
			check.Always(check.AtMost(1, check.NodeClaims(pool))))
	},
})
