package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// On the host network, the ports of a container are its host ports, also if the DaemonSet
// doesn't say so. Most agents of nodes run like this. Karpenter launches no node for a pod
// that wants the same port. Either the pod could not run there, or the agent would be
// missing on just this node.
//
// Source: hostNetwork and hostPort of the Pod API;
// https://github.com/kubernetes-sigs/karpenter/pull/2102.
var _ = Suite.Add(e2e.Spec{
	Name: "launches nothing for a pod whose host port a daemon on the host network takes",
	Known: []e2e.Known{{
		Releases: ">=1.0.0 <=1.15.0", // seen in v1.0.8, v1.6.4, v1.9.0 and v1.15.0
		Issue:    e2e.Finding("karpenter-host-networks"),
		Reason:   "the host ports of a DaemonSet on the host network aren't counted before its first pod runs",
		Breaks:   []string{"^always no NodeClaims", "leads to at least 1 event FailedScheduling"},
	}},
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		daemon := fixtures.DaemonSet().On(pool).OnHostNetwork(port)
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
