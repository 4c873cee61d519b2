package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A constraint that honours taints leaves out a domain whose nodes all have one that
// pods don't tolerate: they run where they may, and none is refused. Otherwise a
// rack that is dedicated to one team holds up everybody else.
//
// Source: topologySpreadConstraints, nodeTaintsPolicy, of the Pod API;
// https://github.com/kubernetes-sigs/karpenter/issues/430.
var _ = Suite.Add(e2e.Spec{
	Name: "leaves out domains with taints if nodeTaintsPolicy is Honor",
	Run: func(ctx context.Context, env *e2e.Env) {
		open, fenced, owner := fencedRacks()
		app := among(open).Spread(fixtures.TopologySpread(rack).NodeTaintsPolicy(fixtures.Honor))

		before := env.Mark()
		env.Create(ctx, open, fenced, owner)
		env.Await(ctx, 1, check.RunningPods(owner))
		env.Create(ctx, app)
		env.Await(ctx, 2, check.RunningPods(app))

		env.Expect(env.Since(before), check.Always(check.AtMost(2, check.NodeClaims(open))),
			check.Always(check.AtMost(1, check.NodeClaims(fenced))),
			check.Always(check.None(refusals(app).AmongObjects(check.PodsOf(app)))))
	},
})
