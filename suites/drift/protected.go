package drift

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A drifted node stays while it must not be disrupted, or a pod on it must not be
// disrupted or evicted. Disruption would lose hours of work, or leave a node half drained
// while the pod runs. Pods don't hold it if a terminationGracePeriod bounds its drain.
// Here another pool drifts meanwhile. This pool drifts once nothing holds it.
//
// Source: annotation karpenter.sh/do-not-disrupt, policy/v1 PodDisruptionBudget;
// https://karpenter.sh/docs/concepts/disruption, "Pod-Level Controls" and
// "Node-Level Controls".
var _ = e2e.Table(Suite, map[string]heldNode{
	"pod":        {"leaves nodes alone whose pods must not be disrupted", byPod()},
	"node":       {"leaves nodes alone that must not be disrupted", byNode()},
	"pod-budget": {"leaves nodes alone whose pods a PodDisruptionBudget holds", byPDB()},
}, func(h heldNode) e2e.Spec {
	return e2e.Spec{
		Name: h.name,
		Run: func(ctx context.Context, env *e2e.Env) {
			held, free := fixtures.NodePool(), fixtures.NodePool()
			holding, freely := fixtures.Deployment(1).On(held), fixtures.Deployment(1).On(free)
			h.from(holding)
			env.Create(ctx, held, free, holding, freely)
			env.Await(ctx, 1, check.RunningPods(holding))
			env.Await(ctx, 1, check.RunningPods(freely))
			h.on(ctx, env, holding)

			before := env.Mark()
			env.Change(ctx, held.NewTemplate())
			env.Await(ctx, 1, check.DriftedNodeClaims(held))
			env.Observe(ctx, karpenter.NominationOver)
			env.Change(ctx, free.NewTemplate())
			env.Await(ctx, 1, check.RunningPods(freely).On(check.ReplacedNodes(free, before)))
			env.Expect(env.Since(before),
				check.HoldsDriftBack(held))

			h.off(ctx, env, holding)
			env.Await(ctx, 0, check.Nodes(held).Old(before))
		},
	}
})
