package provisioning

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// offer is a requirement of a pool, what pods may ask of it, and what they may not.
type offer struct {
	operator    string
	values      []string
	fit, misfit func(*fixtures.Workload) *fixtures.Workload
	label       string // of the nodes that pods get which ask for what they may
	since       string
}

// A pool's requirement says what its nodes may be, by each of its operators: pods
// that ask for something else are told that they can't be served, and nothing is
// launched for them; pods that ask for what it allows get a node that has it.
// Administrators fence teams in by these requirements.
//
// Source: spec.template.spec.requirements of the NodePool API; the operators Gte and
// Lte came with https://github.com/kubernetes-sigs/karpenter/pull/2674.
var _ = e2e.Table(Suite, map[string]offer{
	"in":             {fixtures.In, []string{"3"}, requires(fixtures.In, "3"), requires(fixtures.In, "5"), "3", ""},
	"not-in":         {fixtures.NotIn, []string{"5"}, requires(fixtures.In, "3"), requires(fixtures.In, "5"), "3", ""},
	"exists":         {fixtures.Exists, nil, requires(fixtures.In, "3"), requires(fixtures.DoesNotExist), "3", ""},
	"does-not-exist": {fixtures.DoesNotExist, nil, requires(fixtures.DoesNotExist), requires(fixtures.In, "5"), "", ""},
	"gt":             {fixtures.Gt, []string{"4"}, requires(fixtures.In, "5"), requires(fixtures.In, "4"), "5", ""},
	"lt":             {fixtures.Lt, []string{"4"}, requires(fixtures.In, "3"), requires(fixtures.In, "4"), "3", ""},
	"gte":            {fixtures.Gte, []string{"4"}, requires(fixtures.In, "4"), requires(fixtures.In, "3"), "4", "1.9"},
	"lte":            {fixtures.Lte, []string{"4"}, requires(fixtures.In, "4"), requires(fixtures.In, "5"), "4", "1.9"},
}, func(o offer) e2e.Spec {
	return e2e.Spec{
		Name:  "keeps to a pool's requirement that says " + o.operator,
		Since: e2e.Since{Karpenter: o.since},
		Run: func(ctx context.Context, env *e2e.Env) {
			pool := fixtures.NodePool().Require(size, o.operator, o.values...)
			misfit, fit := o.misfit(fixtures.Deployment(1).On(pool)), o.fit(fixtures.Deployment(1).On(pool))

			before := env.Mark()
			env.Create(ctx, pool, misfit)
			env.AwaitAtLeast(ctx, 1, answers(misfit, pool, env.Mark()))
			alone := env.Since(before)
			env.Create(ctx, fit)
			env.Await(ctx, 1, check.RunningPods(fit))

			env.Expect(alone, passedOver(pool, misfit))
			env.Expect(env.Since(before),
				check.Always(check.AtMost(1, check.NodeClaims(pool))),
				check.Always(check.Each(check.ReadyNodes(pool), "have what was asked for",
					func(node *unstructured.Unstructured) bool { return karpenter.Label(node, size) == o.label })))
		},
	}
})
