package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// labels holds the labels of a pool's template.
type labels map[string]string

// on sets these labels in a pool's template.
func (l labels) on(pool *fixtures.Pool) *fixtures.Pool {
	for key, value := range l {
		pool.Label(key, value)
	}
	return pool
}

// affinity is a requirement of pods, a pool that doesn't meet it, and a pool that does.
type affinity struct {
	says        string
	of          func(*fixtures.Workload) *fixtures.Workload
	unmet, meet labels
}

// requires returns an affinity with one expression about the label size.
func requires(operator string, values ...string) func(*fixtures.Workload) *fixtures.Workload {
	return func(w *fixtures.Workload) *fixtures.Workload { return w.Require(size, operator, values...) }
}

// Karpenter chooses pools by required node affinity: by each operator, by any term, and
// by all expressions of a term. A node that the pods can't use costs money for nothing.
// The pool that doesn't meet the affinity has more weight and serves pods without
// affinity. Pods with affinity get nodes of the other pool.
//
// Source: nodeAffinity of the Pod API;
// https://karpenter.sh/docs/concepts/scheduling, "Node affinity".
var _ = e2e.Table(Suite, map[string]affinity{
	"in":             {"says In", requires(fixtures.In, "3"), labels{size: "5"}, labels{size: "3"}},
	"not-in":         {"says NotIn", requires(fixtures.NotIn, "5"), labels{size: "5"}, labels{size: "3"}},
	"exists":         {"says Exists", requires(fixtures.Exists), nil, labels{size: "3"}},
	"does-not-exist": {"says DoesNotExist", requires(fixtures.DoesNotExist), labels{size: "5"}, nil},
	"gt":             {"says Gt", requires(fixtures.Gt, "4"), labels{size: "4"}, labels{size: "5"}},
	"lt":             {"says Lt", requires(fixtures.Lt, "4"), labels{size: "4"}, labels{size: "3"}},
	"second-term": {
		"has a second term that can be met", func(w *fixtures.Workload) *fixtures.Workload {
			return w.Require(size, fixtures.In, "7").OrRequire(size, fixtures.In, "3")
		},
		labels{size: "5"},
		labels{size: "3"},
	},
	"two-expressions": {
		"has two expressions", func(w *fixtures.Workload) *fixtures.Workload {
			return w.Require(size, fixtures.In, "3").Require(team, fixtures.In, "red")
		},
		labels{size: "3", team: "blue"},
		labels{size: "3", team: "red"},
	},
}, func(a affinity) e2e.Spec {
	return e2e.Spec{
		Name: "takes the pool that meets an affinity which " + a.says,
		Run: func(ctx context.Context, env *e2e.Env) {
			unmet, meeting := rivalPools()
			app := a.of(rivalDeployment(unmet))
			indifferent := fixtures.Deployment(1).On(unmet)

			before := env.Mark()
			env.Create(ctx, a.unmet.on(unmet), a.meet.on(meeting), app)
			env.Await(ctx, 2, check.RunningPods(app))
			choosy := env.Since(before)
			env.Create(ctx, indifferent)
			env.Await(ctx, 1, check.RunningPods(indifferent))

			env.Expect(choosy, passedOver(unmet, app), check.EndsWith(app, check.Exactly(2, check.ReadyNodes(meeting))))
		},
	}
})
