package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter ignores any kind of preference that it cannot meet. All the pods get a single
// node, and no event says that no node fits. A preference that keeps pods pending would
// cause an outage.
//
// Source: https://karpenter.sh/docs/concepts/scheduling, "Preferences";
// preferredDuringSchedulingIgnoredDuringExecution and ScheduleAnyway of the Pod API.
var _ = e2e.Table(Suite, map[string]wish{
	"node-affinity": {"node affinity", func(w *fixtures.Workload) *fixtures.Workload {
		return w.Prefer(1, nowhere, fixtures.Exists)
	}},
	"node-name": {"node name", func(w *fixtures.Workload) *fixtures.Workload {
		return w.PreferNode("nowhere")
	}},
	"pod-affinity": {"pod affinity", func(w *fixtures.Workload) *fixtures.Workload {
		return w.PreferPodAffinity(fixtures.Pod(), rack)
	}},
	"pod-anti-affinity": {"pod anti-affinity", func(w *fixtures.Workload) *fixtures.Workload {
		return w.PreferPodAntiAffinity(w, rack)
	}},
	"topology-spread": {"topology spread", func(w *fixtures.Workload) *fixtures.Workload {
		return w.Spread(fixtures.TopologySpread(nowhere).ScheduleAnyway())
	}},
}, func(p wish) e2e.Spec {
	return e2e.Spec{
		Name: "ignores a preferred " + p.says + " that can't be met",
		Run: func(ctx context.Context, env *e2e.Env) {
			pool := fixtures.NodePool().Label(rack, "only")
			app := p.of(fixtures.Deployment(3).On(pool))

			before := env.Mark()
			env.Create(ctx, pool, app)
			env.Await(ctx, 3, check.RunningPods(app))

			env.Expect(env.Since(before), check.Always(check.AtMost(1, check.NodeClaims(pool))),
				check.Always(check.None(noFitEvents(app).AmongObjects(check.PodsOf(app)))))
		},
	}
})
