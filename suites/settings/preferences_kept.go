package settings

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// kept is what pods require of their node.
type kept struct {
	what    string
	require func(app *fixtures.Workload, rack string)
	nodes   int // that the two pods need
}

// With the preference policy Ignore, Karpenter ignores what pods prefer, and nothing else: a pod
// gets a node such as it requires. A node of another kind would stay empty, and cost money
// while the pod waits.
//
// Source: https://karpenter.sh/docs/reference/settings, PREFERENCE_POLICY; nodeSelector,
// requiredDuringSchedulingIgnoredDuringExecution and whenUnsatisfiable of the Pod API.
var _ = e2e.Table(Suite, map[string]kept{
	"selector": {"that their node selector selects", func(app *fixtures.Workload, rack string) {
		app.Select(rack, "b")
	}, 1},
	"affinity": {"that their affinity requires", func(app *fixtures.Workload, rack string) {
		app.Require(rack, fixtures.NotIn, "a")
	}, 1},
	"spread": {"that spread them as they must be", func(app *fixtures.Workload, rack string) {
		app.Spread(fixtures.TopologySpread(rack))
	}, 2},
}, func(row kept) e2e.Spec {
	return e2e.Spec{
		Name:  "gives pods nodes " + row.what + " if preferences are ignored",
		Since: e2e.Since{Karpenter: "1.5"},
		Run: func(ctx context.Context, env *e2e.Env) {
			env.Configure(ctx, e2e.Settings{karpenter.PreferencePolicy: "Ignore"})
			rack := fixtures.Key("rack")
			pool := fixtures.NodePool().Require(rack, fixtures.In, "a", "b")
			app := fixtures.Deployment(2).On(pool)
			row.require(app, rack)

			before := env.Mark()
			env.Create(ctx, pool, app)
			env.Await(ctx, 2, check.RunningPods(app))

			env.Expect(env.Since(before), check.Always(check.AtMost(row.nodes, check.NodeClaims(pool))),
				check.Always(check.Each(check.NodeClaims(pool), "require one rack", check.RequiringOne(rack))))
		},
	}
})
