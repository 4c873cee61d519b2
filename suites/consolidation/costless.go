package consolidation

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// With the policy WhenEmpty, Karpenter never removes a node that runs a pod, however
// little the pod's disruption costs. Batch jobs of the lowest priority would be restarted
// again and again. Here an idle node beside it is removed.
//
// Source: spec.disruption.consolidationPolicy of the NodePool API; annotation
// controller.kubernetes.io/pod-deletion-cost; PriorityClass (scheduling.k8s.io/v1).
var _ = e2e.Table(Suite, map[string]costless{
	"deletion-cost": {"has the lowest deletion cost", func(app *fixtures.Workload) []fixtures.Object {
		return []fixtures.Object{app.Annotate(corev1.PodDeletionCost, "-2147483647")}
	}},
	"priority": {"has a very low priority", func(app *fixtures.Workload) []fixtures.Object {
		low := fixtures.PriorityClass(-1_000_000_000)
		return []fixtures.Object{low, app.Priority(low.GetName())}
	}},
}, func(row costless) e2e.Spec {
	return e2e.Spec{
		Name: "keeps a node whose pod " + row.words + " when its policy is WhenEmpty",
		Known: []e2e.Known{{
			Releases: ">=1.14.0 <=1.15.0", // seen in v1.14.0, v1.14.3 and v1.15.0
			Issue:    e2e.Finding("karpenter-nodes-of-costless-pods"),
			Reason:   "a node counts as empty if moving its pods costs nothing",
			Breaks:   []string{"^always no pods of app-", "the reasons of disruptions are said, and true"},
			Explored: `pod-deletion-cost: "-\d{9,}"`,
		}},
		Run: func(ctx context.Context, env *e2e.Env) {
			pool := fixtures.NodePool().Consolidate(fixtures.WhenEmpty)
			app, idle := fixtures.Deployment(1).On(pool).HostPort(port), fixtures.Deployment(1).On(pool).HostPort(port)

			before := env.Mark()
			env.Create(ctx, pool, idle)
			env.Create(ctx, row.of(app)...)
			env.Await(ctx, 1, check.RunningPods(app))
			env.Await(ctx, 1, check.RunningPods(idle))
			env.Delete(ctx, idle)
			env.Observe(ctx, karpenter.NominationOver+karpenter.DisruptionPolled)

			env.Expect(env.Since(before), check.Always(neverDisrupted(app, pool)),
				check.LeadsTo(check.AtLeast(1, check.DisruptedNodes(pool)), check.Exactly(1, check.Nodes(pool))))
		},
	}
})

// costless makes a pod that costs nothing to move, and what it needs.
type costless struct {
	words string
	of    func(*fixtures.Workload) []fixtures.Object
}
