package consolidation

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Of several nodes that can be replaced, Karpenter begins with the one that disrupts least.
// Where a budget allows one node at a time, pods of high priority, or with a high cost of
// deletion, wait until the others have moved. By then the reason to move them may be gone.
//
// Source: https://karpenter.sh/docs/concepts/disruption, "Consolidation".
var _ = e2e.Table(Suite, map[string]dearness{
	"deletion-cost": {"cost most to delete", func(dear *fixtures.Workload) []fixtures.Object {
		const high = "1000000000"
		return []fixtures.Object{
			dear.Annotate(corev1.PodDeletionCost, high).Annotate(karpenter.DisruptionCostAnnotation, high),
		}
	}},
	"priority": {"have the highest priority", func(dear *fixtures.Workload) []fixtures.Object {
		class := fixtures.PriorityClass(1000000000)
		return []fixtures.Object{class, dear.Priority(class.GetName())}
	}},
}, func(row dearness) e2e.Spec {
	return e2e.Spec{
		Name: "moves those pods last that " + row.how,
		Run: func(ctx context.Context, env *e2e.Env) {
			pool := fixtures.NodePool().OnDemand().Budget("1").Consolidate(fixtures.WhenEmptyOrUnderutilized)
			large := fixtures.Deployment(5).On(pool).CPU("3").HostPort(otherPort)
			dear, cheap := fixtures.Deployment(4).On(pool).HostPort(port), fixtures.Deployment(1).On(pool).HostPort(port)
			env.Create(ctx, pool, large)
			env.Await(ctx, 5, check.RunningPods(large))
			env.Create(ctx, row.make(dear)...)
			env.Await(ctx, 4, check.RunningPods(dear))
			env.Create(ctx, cheap)
			env.Await(ctx, 1, check.RunningPods(cheap))
			env.Observe(ctx, karpenter.NominationOver)

			before := env.Mark()
			env.Delete(ctx, large)
			env.Await(ctx, 1, check.DisruptedNodes(pool))
			env.Await(ctx, 0, check.RunningPods(cheap).On(check.Nodes(pool).Old(before)))

			env.Expect(env.Since(before),
				check.Always(check.When(check.AtLeast(1, check.RunningPods(cheap).On(check.Nodes(pool).Old(before))),
					neverDisrupted(dear, pool))),
				check.LeadsTo(check.AtLeast(1, check.DisruptedNodes(pool)),
					check.None(check.RunningPods(cheap).On(check.Nodes(pool).Old(before)))))
		},
	}
})

// dearness makes pods that are costly to move.
type dearness struct {
	how  string
	make func(dear *fixtures.Workload) []fixtures.Object
}
