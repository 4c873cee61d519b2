package consolidation

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// protection is a way to keep a pod on its node. Its function returns the workload and
// the objects that protect it.
type protection struct {
	words string
	of    func(*fixtures.Workload) []fixtures.Object
}

// Karpenter keeps a node with a pod that must not be disrupted or may not be evicted now.
// This holds although the pod would fit elsewhere. An hour of work is worth more than an
// hour of a node. Here each of two nodes has room for the other's pods. The node without
// such a pod is removed, although it has more pods.
//
// Source: https://karpenter.sh/docs/concepts/disruption, "Pod-Level Controls";
// annotation karpenter.sh/do-not-disrupt; policy/v1 PodDisruptionBudget.
var _ = e2e.Table(Suite, map[string]protection{
	"pod": {"must not be disrupted", func(app *fixtures.Workload) []fixtures.Object {
		return []fixtures.Object{app.Annotate(karpenter.DoNotDisruptAnnotation, "true")}
	}},
	"pod-budget": {"may not be evicted", func(app *fixtures.Workload) []fixtures.Object {
		return []fixtures.Object{app.MinAvailable(1), app}
	}},
	"none-unavailable": {"must all be available", func(app *fixtures.Workload) []fixtures.Object {
		return []fixtures.Object{app.MaxUnavailable(0), app}
	}},
}, func(protected protection) e2e.Spec {
	return e2e.Spec{
		Name: "leaves nodes alone whose pods " + protected.words,
		Run: func(ctx context.Context, env *e2e.Env) {
			pool := fixtures.NodePool().Consolidate(fixtures.WhenEmptyOrUnderutilized)
			app, first := fixtures.Deployment(2).On(pool), fixtures.Deployment(1).On(pool).HostPort(port)
			held := fixtures.Deployment(1).On(pool).HostPort(port)
			env.Create(ctx, pool, app, first)
			env.Await(ctx, 2, check.RunningPods(app))
			env.Await(ctx, 1, check.RunningPods(first))
			env.Create(ctx, protected.of(held)...)
			env.Await(ctx, 1, check.RunningPods(held))
			env.Observe(ctx, karpenter.NominationOver)

			before := env.Mark()
			env.Delete(ctx, first)
			env.Await(ctx, 1, check.DisruptedNodes(pool))
			env.Await(ctx, 1, check.Nodes(pool))

			env.Expect(env.Since(before),
				check.Always(check.When(check.None(check.PodsOf(first)), neverDisrupted(held, pool))),
				check.LeadsTo(check.AtLeast(1, check.DisruptedNodes(pool)), check.Exactly(1, check.Nodes(pool))))
		},
	}
})
