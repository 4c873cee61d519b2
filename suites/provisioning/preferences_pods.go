package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// company is what pods prefer, given a term that means pods in rack a and one that means no pods.
type company struct {
	says  string
	of    func(w *fixtures.Workload, some, none *fixtures.Term) *fixtures.Workload
	rack  string // that follows
	known []e2e.Known
}

// Karpenter follows a preference to be near other pods, or apart from them, if some node can
// meet it. A preference that can't be met, since there are no such pods, doesn't cost a
// pod the others that it has, and least of all one with more weight.
//
// Source: preferredDuringSchedulingIgnoredDuringExecution and weight of podAffinity and
// podAntiAffinity, of the Pod API; https://karpenter.sh/docs/concepts/scheduling,
// "Preferences", by which preferences are relaxed one at a time.
var _ = e2e.Table(Suite, map[string]company{
	"near": {
		says: "be near pods", rack: "a",
		of: func(w *fixtures.Workload, some, _ *fixtures.Term) *fixtures.Workload { return w.PreferNear(50, some) },
	},
	"apart": {
		says: "be apart from pods", rack: "b",
		of: func(w *fixtures.Workload, some, _ *fixtures.Term) *fixtures.Workload { return w.PreferApart(50, some) },
	},
	"lighter": {
		says: "be near pods if one with more weight can't be met", rack: "a",
		of: func(w *fixtures.Workload, some, none *fixtures.Term) *fixtures.Workload {
			return w.PreferNear(90, none).PreferNear(10, some)
		},
	},
	"heavier": {
		says: "be near pods if one with less weight can't be met", rack: "a",
		of: func(w *fixtures.Workload, some, none *fixtures.Term) *fixtures.Workload {
			return w.PreferNear(90, some).PreferNear(10, none)
		},
		known: []e2e.Known{{
			Releases: "=1.15.0", // seen in v1.15.0
			Issue: "https://github.com/plumbline-e2e/plumbline/blob/main/suites/findings.md" +
				"#karpenter-preferences-about-pods",
			Reason: "of preferences about pods, that with the most weight is dropped first, until the others can be met",
			Breaks: []string{"^always all NodeClaims of pool .* require rack a"},
		}},
	},
}, func(c company) e2e.Spec {
	return e2e.Spec{
		Name:  "follows a preference to " + c.says,
		Known: c.known,
		Run: func(ctx context.Context, env *e2e.Env) {
			there, here := racks(), racks()
			others := fixtures.Deployment(1).On(there).Select(rack, "a").Label(team, there.GetName())
			some := fixtures.PodTerm(rack).Where(team, fixtures.In, there.GetName())
			none := fixtures.PodTerm(rack).Where(team, fixtures.In, here.GetName())
			app := c.of(fixtures.Deployment(1).On(here), some, none)

			before := env.Mark()
			env.Create(ctx, there, others)
			env.Await(ctx, 1, check.RunningPods(others))
			env.Create(ctx, here, app)
			env.Await(ctx, 1, check.RunningPods(app))

			env.Expect(env.Since(before), onlyInRack(here, c.rack))
		},
	}
})
