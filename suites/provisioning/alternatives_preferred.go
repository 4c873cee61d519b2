package provisioning

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A pod with alternatives gets a node that meets one of them, although it also prefers what no
// node can be. A preference never keeps a pod from running: it has to go before an alternative
// does. Otherwise the pod waits for ever, and the scheduler would place it.
//
// Source: https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node (terms are
// alternatives, preferences and PreferNoSchedule are not required);
// https://karpenter.sh/docs/concepts/scheduling, "Preferences".
var _ = e2e.Table(Suite, map[string]struct {
	beside string
	make   func(*fixtures.Pool, *fixtures.Workload)
}{
	"label": {"a preferred label that no node can have", func(_ *fixtures.Pool, app *fixtures.Workload) {
		app.Prefer(1, fixtures.Key("nowhere"), fixtures.Exists)
	}},
	"taint": {"a taint that only prefers other pods", func(pool *fixtures.Pool, _ *fixtures.Workload) {
		pool.Taint(fixtures.Key("soft"), string(corev1.TaintEffectPreferNoSchedule))
	}},
}, func(row struct {
	beside string
	make   func(*fixtures.Pool, *fixtures.Workload)
},
) e2e.Spec {
	return e2e.Spec{
		Name: "meets an alternative of a pod beside " + row.beside,
		Known: []e2e.Known{{
			Releases: ">=1.0.0 <=1.15.0", // seen in v1.0.8, v1.6.4, v1.9.0 and v1.15.0
			Issue:    e2e.Finding("karpenter-alternatives-that-go-before-preferences"),
			Reason:   "all alternatives but the last are given up before the first preference is",
			Breaks:   []string{"^waited for 1 pod", "pods that wait fit on no node that could be launched"},
			Explored: `(?s)nodeSelectorTerms:.{1,600}\n +- matchExpressions:.{1,600}\n +- matchExpressions:`,
		}},
		Run: func(ctx context.Context, env *e2e.Env) {
			pool := fixtures.NodePool()
			app := fixtures.Deployment(1).On(pool).OrRequire(corev1.LabelOSStable, fixtures.In, "linux").
				OrRequire(fixtures.Key("nowhere"), fixtures.Exists)
			row.make(pool, app)

			before := env.Mark()
			env.Create(ctx, pool, app)
			env.Await(ctx, 1, check.RunningPods(app))

			env.Expect(env.Since(before),
				check.LeadsTo(check.AtLeast(1, check.PodsOf(app)), check.AtLeast(1, check.NodeClaims(pool))))
		},
	}
})
