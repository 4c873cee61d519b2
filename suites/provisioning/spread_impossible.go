package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// Karpenter spreads pods over the zones that nodes can have. A pool may name a zone that doesn't
// exist, or where none of its instance types is offered. Its mistake must not stop the pods of
// others, and the scheduler knows only the zones of nodes.
//
// Source: topologySpreadConstraints of the Pod API;
// https://karpenter.sh/docs/concepts/scheduling, "Topology Spread".
var _ = Suite.Add(e2e.Spec{
	Name:  "spreads pods over no zone where no instance type is offered",
	Needs: []providers.Capability{providers.NodePools, providers.Zones},
	Known: []e2e.Known{{
		Releases: ">=1.0.0 <=1.15.0", // seen in v1.14.3 and v1.15.0
		Issue:    "https://github.com/kubernetes-sigs/karpenter/issues/3272",
		Reason: "the values that a NodePool requires of a label count as domains, whether or not an instance type is " +
			"offered there, so that all pods but one in each zone are refused",
		Breaks: []string{"^waited for 4 pods"},
	}},
	Run: func(ctx context.Context, env *e2e.Env) {
		here, there := env.TwoZones(ctx, fixtures.NodePool())
		pool := fixtures.NodePool().Require(zone, fixtures.In, here, there)
		useless := fixtures.NodePool().Require(zone, fixtures.In, "nowhere")
		app := fixtures.Deployment(4).Require(karpenter.NodePoolLabel, fixtures.In, pool.GetName(), useless.GetName()).
			OnePodPerNode().Spread(fixtures.TopologySpread(zone))

		before := env.Mark()
		env.Create(ctx, pool, useless, app)
		env.Await(ctx, 4, check.RunningPods(app))

		env.Expect(env.Since(before),
			check.EndsWith(app, check.Exactly(2, check.RunningPods(app).On(labeledNodes(pool, zone, here)))),
			check.EndsWith(app, check.Exactly(2, check.RunningPods(app).On(labeledNodes(pool, zone, there)))))
	},
})
