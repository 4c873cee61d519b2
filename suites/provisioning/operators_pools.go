package provisioning

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// offer is a pool's requirement, a request that it allows, and one that it refuses.
type offer struct {
	operator    string
	values      []string
	fit, misfit func(*fixtures.Workload) *fixtures.Workload
	label       string // its value on the nodes of fit pods
	since       string
}

// A pool launches only nodes that its requirements allow, for each operator. For pods
// that request something else, Karpenter reports that no node fits and launches nothing.
// Pods that request an allowed value get a node with it. Administrators use these
// requirements to separate teams.
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
			env.AwaitAtLeast(ctx, 1, decisions(misfit, pool, env.Mark()))
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
