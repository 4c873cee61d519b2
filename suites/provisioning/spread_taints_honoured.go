package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// With nodeTaintsPolicy Honor, Karpenter ignores a domain if all its nodes have a taint
// that the pods don't tolerate. The pods run elsewhere, and none is refused. Otherwise, a
// rack dedicated to one team delays all others.
//
// Source: topologySpreadConstraints, nodeTaintsPolicy, of the Pod API;
// https://github.com/kubernetes-sigs/karpenter/issues/430.
var _ = Suite.Add(e2e.Spec{
	Name: "leaves out domains with taints if nodeTaintsPolicy is Honor",
	Run: func(ctx context.Context, env *e2e.Env) {
		open, fenced, owner := fencedRacks()
		app := rivalDeployment(open).Spread(fixtures.TopologySpread(rack).NodeTaintsPolicy(fixtures.Honor))

		before := env.Mark()
		env.Create(ctx, open, fenced, owner)
		env.Await(ctx, 1, check.RunningPods(owner))
		env.Create(ctx, app)
		env.Await(ctx, 2, check.RunningPods(app))

		env.Expect(env.Since(before), check.Always(check.AtMost(2, check.NodeClaims(open))),
			check.Always(check.AtMost(1, check.NodeClaims(fenced))),
			check.Always(check.None(noFitEvents(app).AmongObjects(check.PodsOf(app)))))
	},
})
