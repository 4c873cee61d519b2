package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// port is any host port that pods exclude each other by.
const port = 8099

// Karpenter launches no node for a pod whose host port a daemon takes on every node. No
// node would help, so Karpenter would launch node after node at the user's cost.
//
// Source: hostPort of the Pod API;
// https://github.com/kubernetes-sigs/karpenter/pull/2102.
var _ = Suite.Add(e2e.Spec{
	Name: "launches nothing for a pod whose host port a daemon takes on every node",
	Known: []e2e.Known{{
		Releases: ">=1.0.0 <1.4.0", // seen in v1.0.8 and v1.1.5
		Issue:    "https://github.com/kubernetes-sigs/karpenter/pull/2102",
		Reason:   "the host ports of daemons aren't counted on a new node",
		Breaks:   []string{"^always no NodeClaims", "leads to at least 1 event FailedScheduling"},
	}},
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		daemon := fixtures.DaemonSet().On(pool).HostPort(port)
		app := fixtures.Deployment(1).On(pool).HostPort(port)

		before := env.Mark()
		env.Create(ctx, pool, daemon)
		env.Create(ctx, app)
		env.Observe(ctx, karpenter.PodsRetried)

		env.Expect(env.Since(before),
			passedOver(pool, app),
			check.LeadsTo(check.AtLeast(1, check.PodsOf(app)), check.AtLeast(1, noFitEvents(app))))
	},
})
