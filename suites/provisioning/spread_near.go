package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Pods go where all of their rules let them. A constraint with room for more leaves a choice of
// racks, of which another rule takes all but one. Here they must be near a pod in rack a, and up to
// five of them may be in one rack. The racks that have none yet don't help.
//
// Source: topologySpreadConstraints, maxSkew, and podAffinity of the Pod API; Karpenter:
// pkg/controllers/provisioning/scheduling/topologygroup.go, nextDomainTopologySpread.
var _ = Suite.Add(e2e.Spec{
	Name: "launches nodes near other pods if a spread constraint allows it, and prefers elsewhere",
	Known: []e2e.Known{{
		Releases: ">=1.0.0 <=1.15.0", // seen in v1.14.3 and v1.15.0
		Issue:    "https://github.com/kubernetes-sigs/karpenter/issues/3333",
		Reason:   "of the domains that maxSkew allows, only the emptiest one is tried",
		Breaks:   []string{"^waited for 2 pods", "pods that wait fit on no node that could be launched"},
		Explored: `podAffinity:(\n  .*)*\n +topologySpreadConstraints:`, // in one action
	}},
	Run: func(ctx context.Context, env *e2e.Env) {
		there, here := fixtures.NodePool().Label(rack, "a"), fixtures.NodePool().Require(rack, fixtures.In, "a", "b", "c")
		leader := fixtures.Deployment(1).On(there)
		app := fixtures.Deployment(2).On(here).OnePodPerNode().PodAffinity(leader, rack).
			Spread(fixtures.TopologySpread(rack).MaxSkew(5))
		env.Create(ctx, there, leader)
		env.Await(ctx, 1, check.RunningPods(leader))

		before := env.Mark()
		env.Create(ctx, here, app)
		env.Await(ctx, 2, check.RunningPods(app))

		env.Expect(env.Since(before), check.Always(check.AtMost(2, check.NodeClaims(here))),
			check.EndsWith(app, check.Exactly(2, check.RunningPods(app).On(labeledNodes(here, rack, "a")))))
	},
})
