package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Daemons may run on nodes of several kinds, each by a term of their affinity. A new node of any of these
// has room for them. Here the first term is for the pool that Karpenter tries last.
//
// Source: https://karpenter.sh/docs/concepts/scheduling, "Resource requests"; nodeSelectorTerms of the Pod
// API, which are alternatives.
var _ = Suite.Add(e2e.Spec{
	Name: "counts daemons on nodes of each pool that a term of their affinity is for",
	Known: []e2e.Known{{
		Releases: ">=1.1.0 <=1.15.0", // seen in v1.6.4, v1.14.3 and v1.15.0; by the source since v1.1.5
		Issue:    e2e.Finding("karpenter-alternatives-of-daemons"),
		Reason:   "a term that isn't for one pool is forgotten for all others",
		Breaks:   noRoomForDaemon,
	}},
	Run: func(ctx context.Context, env *e2e.Env) {
		last, first := fixtures.NodePool().Weight(1), fixtures.NodePool().Weight(90)
		daemon := fixtures.DaemonSet().CPU("2").Require(karpenter.NodePoolLabel, fixtures.In, last.GetName()).
			OrRequire(karpenter.NodePoolLabel, fixtures.In, first.GetName())
		app := fixtures.Deployment(1).On(last).CPU("2")

		before := env.Mark()
		env.Create(ctx, last, first, daemon)
		env.Create(ctx, app)
		env.Await(ctx, 1, check.RunningPods(app))
		env.Observe(ctx, karpenter.Settled)

		env.Expect(env.Since(before), roomForDaemon(last, app, daemon)...)
	},
})
