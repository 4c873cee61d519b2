package termination

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// A node is not gone before the last pod that its PodDisruptionBudget holds
// there: who deletes a NodeClaim by hand doesn't take down a service by it. Other
// pods leave meanwhile, and the held one when the budget is lifted.
//
// Source: policy/v1 PodDisruptionBudget;
// https://karpenter.sh/docs/concepts/disruption, "Termination Controller".
var _ = Suite.Add(e2e.Spec{
	Name:  "waits for a PodDisruptionBudget to be lifted",
	Needs: []providers.Capability{providers.NodePools},
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		held, free := fixtures.Pod().On(pool), fixtures.Pod().On(pool)
		budget := held.MinAvailable(1)
		begin(ctx, env, pool)
		env.Create(ctx, budget, held, free)
		env.Await(ctx, 1, check.RunningPods(held))
		env.Await(ctx, 1, check.RunningPods(free))

		before, old := env.Now(), env.World()
		end(ctx, env, pool)
		env.Await(ctx, 0, check.PodsOf(free))
		env.Watch(ctx, settled)
		env.Delete(ctx, budget)
		env.Await(ctx, 0, check.Nodes(pool).Old(old))

		staying := check.AllOf(check.Exactly(1, draining(pool)), check.Exactly(1, check.RunningPods(held)))
		env.Expect(env.Since(before), gone(pool),
			check.LeadsTo(check.AtLeast(1, draining(pool)), check.None(check.PodsOf(free))),
			check.Always(check.When(check.AllOf(check.AtLeast(1, draining(pool)), check.AtLeast(1, budgets(held))), staying)))
	},
})

// budgets counts the PodDisruptionBudgets of a workload.
func budgets(app *fixtures.Workload) check.Count {
	return check.Where("PodDisruptionBudgets of "+app.GetName(), karpenter.PodDisruptionBudgets, func(o *unstructured.Unstructured) bool {
		return o.GetName() == app.GetName()
	})
}
