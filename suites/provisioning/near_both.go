package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A pod with several rules of affinity goes where one pod meets them all. The scheduler counts no
// pod that meets only some (https://github.com/kubernetes/kubernetes/issues/130784). Where there is
// none that does, a node would stay empty.
//
// Source: podAffinity of the Pod API; kube-scheduler:
// pkg/scheduler/framework/plugins/interpodaffinity, filtering.go, podMatchesAllAffinityTerms.
var _ = Suite.Add(e2e.Spec{
	Name: "launches nothing for a pod if no other meets all of its affinity rules",
	Known: []e2e.Known{{
		Releases: ">=1.0.0 <=1.15.0", // seen in v1.14.3 and v1.15.0
		Issue:    e2e.Finding("karpenter-pods-near-pods-of-several-kinds"),
		Reason:   "each rule of affinity may be met by another pod",
		Breaks:   []string{"^always no NodeClaims", "launched nodes take pods that they were launched for"},
		// Two required terms; the lines of podAntiAffinity are less indented.
		Explored: `podAffinity:\n( {14}.*\n)*? {14}requiredDuringSchedulingIgnoredDuringExecution:\n` +
			` {14}- .*\n( {16}.*\n)+ {14}- `,
	}},
	Run: func(ctx context.Context, env *e2e.Env) {
		there, here := fixtures.NodePool().Label(rack, "a"), fixtures.NodePool().Label(rack, "a")
		one, other := fixtures.Deployment(1).On(there), fixtures.Deployment(1).On(there)
		app := fixtures.Deployment(1).On(here).PodAffinity(one, rack).PodAffinity(other, rack)
		env.Create(ctx, there, one, other)
		env.Await(ctx, 1, check.RunningPods(one))
		env.Await(ctx, 1, check.RunningPods(other))

		before := env.Mark()
		env.Create(ctx, here, app)
		env.AwaitAtLeast(ctx, 1, decisions(app, here, before))
		env.Observe(ctx, karpenter.PodsRetried)

		env.Expect(env.Since(before), passedOver(here, app))
	},
})
