package consolidation

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter removes no node if its pods would have to move to one that waits for consolidateAfter.
// That one may be empty in a moment, and then be removed itself. Its pods would move twice, and
// each move would start its time again. Once it doesn't wait any more, it takes the pods.
//
// Source: spec.disruption.consolidateAfter of the NodePool API; Karpenter:
// pkg/controllers/provisioning/scheduling/scheduler.go, addToExistingNode.
var _ = Suite.Add(e2e.Spec{
	Name:  "moves no pods to a node that waits for consolidateAfter",
	Since: e2e.Since{Karpenter: "1.14"},
	Run: func(ctx context.Context, env *e2e.Env) {
		group := fixtures.Key("group")
		loose := fixtures.NodePool().Weight(90).Consolidate(fixtures.WhenEmptyOrUnderutilized)
		waiting := fixtures.NodePool().ConsolidationPolicy(fixtures.WhenEmptyOrUnderutilized).ConsolidateAfter("1h")
		staying, first := fixtures.Deployment(1).On(waiting), fixtures.Deployment(1).On(waiting).HostPort(port)
		app := fixtures.Deployment(1).Select(group, loose.GetName()).HostPort(port)
		env.Create(ctx, waiting.Label(group, loose.GetName()), staying, first)
		env.Await(ctx, 1, check.RunningPods(staying))
		env.Await(ctx, 1, check.RunningPods(first))
		env.Create(ctx, loose.Label(group, loose.GetName()), app)
		env.Await(ctx, 1, check.RunningPods(app).On(check.Nodes(loose)))
		env.Observe(ctx, karpenter.NominationOver)

		before := env.Mark()
		env.Delete(ctx, first)
		held := env.Observe(ctx, karpenter.ConsolidationBegun+karpenter.ConsolidationDecided)
		env.Change(ctx, waiting.ConsolidateAfter("0s"))
		env.Await(ctx, 0, check.Nodes(loose))

		env.Expect(held, check.Always(check.When(check.None(check.PodsOf(first)), neverDisrupted(app, loose))))
		env.Expect(env.Since(before),
			check.LeadsTo(check.AtLeast(1, check.DisruptedNodes(loose)), check.None(check.Nodes(loose))))
	},
})
