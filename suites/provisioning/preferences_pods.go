package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// company is what pods prefer, given a term that means pods in rack a.
type company struct {
	says string
	of   func(*fixtures.Workload, *fixtures.Term) *fixtures.Workload
	rack string // that follows
}

// Karpenter follows a preference to be near other pods, or apart from them, if some node can
// meet it. What it does with several that can't be met together, the documentation leaves open.
//
// Source: preferredDuringSchedulingIgnoredDuringExecution of podAffinity and podAntiAffinity, of
// the Pod API; https://karpenter.sh/docs/concepts/scheduling, "Preferences".
var _ = e2e.Table(Suite, map[string]company{
	"near": {"be near pods", func(w *fixtures.Workload, some *fixtures.Term) *fixtures.Workload {
		return w.PreferNear(50, some)
	}, "a"},
	"apart": {"be apart from pods", func(w *fixtures.Workload, some *fixtures.Term) *fixtures.Workload {
		return w.PreferApart(50, some)
	}, "b"},
}, func(c company) e2e.Spec {
	return e2e.Spec{
		Name: "follows a preference to " + c.says,
		Run: func(ctx context.Context, env *e2e.Env) {
			there, here := racks(), racks()
			others := fixtures.Deployment(1).On(there).Select(rack, "a").Label(team, there.GetName())
			app := c.of(fixtures.Deployment(1).On(here), fixtures.PodTerm(rack).Where(team, fixtures.In, there.GetName()))

			before := env.Mark()
			env.Create(ctx, there, others)
			env.Await(ctx, 1, check.RunningPods(others))
			env.Create(ctx, here, app)
			env.Await(ctx, 1, check.RunningPods(app))

			env.Expect(env.Since(before), onlyInRack(here, c.rack))
		},
	}
})
