package consolidation

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// With the policy Balanced, Karpenter removes a node only if that saves enough for moving
// its pods. Here a small node stays with a pod that is costly to move, though it fits on
// a large node. Another pool's policy looks only at savings, and such a node is removed.
//
// Source: designs/balanced-consolidation.md; spec.disruption.consolidationPolicy.
var _ = Suite.Add(e2e.Spec{
	Name:  "leaves costly pods alone for small savings when its policy is Balanced",
	Since: e2e.Since{Karpenter: "1.14"},
	Run: func(ctx context.Context, env *e2e.Env) {
		held := fixtures.NodePool().OnDemand().Consolidate(fixtures.Balanced).Budget("0")
		free := fixtures.NodePool().OnDemand().Consolidate(fixtures.WhenEmptyOrUnderutilized).Budget("0")
		large, first := unmovablePod(held), fixtures.Pod().On(held).HostPort(port)
		other, second := unmovablePod(free), fixtures.Pod().On(free).HostPort(port)
		holding, freely := costlyPod(held), costlyPod(free)
		env.Create(ctx, held, free, large, other)
		env.Await(ctx, 1, check.RunningPods(large))
		env.Await(ctx, 1, check.RunningPods(other))
		env.Create(ctx, first, second)
		env.Await(ctx, 1, check.RunningPods(first))
		env.Await(ctx, 1, check.RunningPods(second))
		env.Create(ctx, holding, freely)
		env.Await(ctx, 1, check.RunningPods(holding))
		env.Await(ctx, 1, check.RunningPods(freely))
		env.Observe(ctx, karpenter.NominationOver)

		before := env.Mark()
		env.Delete(ctx, first, second)
		// What changes while Karpenter looks at a pool it sees only five minutes later, unless a budget has held it up.
		env.Await(ctx, 0, check.PodsOf(first))
		env.Await(ctx, 0, check.PodsOf(second))
		env.Change(ctx, held.NoBudgets(), free.NoBudgets())
		env.Await(ctx, 1, check.DisruptedNodes(free))
		env.Observe(ctx, karpenter.ConsolidationDecided)
		env.Await(ctx, 1, check.Nodes(free))

		env.Expect(env.Since(before),
			check.Always(check.When(check.None(check.PodsOf(first)), neverDisrupted(holding, held))),
			check.LeadsTo(check.AtLeast(1, check.DisruptedNodes(free)), check.Exactly(1, check.Nodes(free))))
	},
})

// unmovablePod builds a pod that needs a large node and may not be moved from it.
func unmovablePod(pool *fixtures.Pool) *fixtures.Workload {
	return fixtures.Deployment(1).On(pool).CPU("3").Annotate(karpenter.DoNotDisruptAnnotation, "true")
}

// costlyPod builds a pod that is costly to move and needs a host port.
func costlyPod(pool *fixtures.Pool) *fixtures.Workload { return costlyPods(pool, 1).HostPort(port) }

// costlyPods builds pods that have the highest possible cost to move. Their deletion cost says so, and since
// v1.15 their disruption cost, which alone counts if Karpenter sets deletion costs itself.
func costlyPods(pool *fixtures.Pool, n int) *fixtures.Workload {
	const highest = "2147483647"
	return fixtures.Deployment(n).On(pool).
		Annotate(corev1.PodDeletionCost, highest).Annotate(karpenter.DisruptionCostAnnotation, highest)
}
