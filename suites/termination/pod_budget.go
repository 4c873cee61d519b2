package termination

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter keeps a node until the last pod held by a PodDisruptionBudget has left. A
// manual NodeClaim deletion must not take down a service. Other pods leave meanwhile, and
// the held pod leaves once the budget is removed.
//
// Source: policy/v1 PodDisruptionBudget;
// https://karpenter.sh/docs/concepts/disruption, "Termination Controller".
var _ = Suite.Add(e2e.Spec{
	Name: "waits for a PodDisruptionBudget to be lifted",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		held, free := fixtures.Pod().On(pool), fixtures.Pod().On(pool)
		budget := held.MinAvailable(1)
		launchNode(ctx, env, pool)
		env.Create(ctx, budget, held, free)
		env.Await(ctx, 1, check.RunningPods(held))
		env.Await(ctx, 1, check.RunningPods(free))

		before := env.Mark()
		deleteNodeClaim(ctx, env, pool)
		env.Await(ctx, 0, check.PodsOf(free))
		env.Observe(ctx, karpenter.DrainPolled)
		env.Delete(ctx, budget)
		env.Await(ctx, 0, check.Nodes(pool).Old(before))

		staying := check.AllOf(check.Exactly(1, check.Nodes(pool).Deleting()), check.Exactly(1, check.RunningPods(held)))
		env.Expect(env.Since(before), nodesGoAfterDrain(pool),
			check.LeadsTo(check.AtLeast(1, check.Nodes(pool).Deleting()), check.None(check.PodsOf(free))),
			check.While(check.Nodes(pool).Deleting(), check.When(check.AtLeast(1, check.The(budget)), staying)))
	},
})
