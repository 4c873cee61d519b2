package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// wish is a preference of pods and its description.
type wish struct {
	says string
	of   func(*fixtures.Workload) *fixtures.Workload
}

// Karpenter puts a pod's preference before pools' weights, if some pool can launch such a
// node. The pod's wish comes before the administrator's. Karpenter tries the preference
// with the most weight first, then the next if no pool fits.
//
// Source: https://karpenter.sh/docs/concepts/scheduling, "Preferences"; setting
// preference-policy, Respect by default; Karpenter:
// pkg/controllers/provisioning/scheduling/preferences.go.
var _ = e2e.Table(Suite, map[string]wish{
	"single": {"preference", func(w *fixtures.Workload) *fixtures.Workload {
		return w.Prefer(1, size, fixtures.In, "3")
	}},
	"weightiest": {"preference with the most weight", func(w *fixtures.Workload) *fixtures.Workload {
		return w.Prefer(10, size, fixtures.In, "5").Prefer(90, size, fixtures.In, "3")
	}},
	"next": {"next preference if that with the most weight can't be met", func(w *fixtures.Workload) *fixtures.Workload {
		return w.Prefer(10, size, fixtures.In, "3").Prefer(90, size, fixtures.In, "7")
	}},
}, func(p wish) e2e.Spec {
	return e2e.Spec{
		Name: "follows a pod's " + p.says,
		Run: func(ctx context.Context, env *e2e.Env) {
			heavier, wished := rivalPools()
			app := p.of(rivalDeployment(heavier))
			indifferent := fixtures.Deployment(1).On(heavier)

			before := env.Mark()
			env.Create(ctx, heavier.Label(size, "5"), wished.Label(size, "3"), app)
			env.Await(ctx, 2, check.RunningPods(app))
			wishful := env.Since(before)
			env.Create(ctx, indifferent)
			env.Await(ctx, 1, check.RunningPods(indifferent))

			env.Expect(wishful, passedOver(heavier, app), check.EndsWith(app, check.Exactly(2, check.ReadyNodes(wished))))
		},
	}
})
