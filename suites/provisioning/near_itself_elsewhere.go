package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// A pod that must be near pods like itself goes where they are. If it may not go there, it
// waits: only the first of all may choose. A node in another zone would stay empty, and be
// replaced by the next one.
//
// Source: podAffinity of the Pod API; kube-scheduler: pkg/scheduler/framework/plugins/interpodaffinity,
// satisfyPodAffinity.
var _ = Suite.Add(e2e.Spec{
	Name:  "launches nothing for a pod that must be near pods like itself and may not go there",
	Needs: []providers.Capability{providers.NodePools, providers.Zones},
	Known: []e2e.Known{{
		Releases: ">=1.0.0 <=1.15.0", // seen in v1.9.0 and v1.15.0; the source is the same in v1.0.8
		Issue:    e2e.Finding("karpenter-pods-near-pods-that-they-cant-join"),
		Reason:   "a pod that must be near pods like itself is taken for the first of them if it may not go to their zones",
		Breaks:   []string{"^always no NodeClaims", "launched nodes take pods that they were launched for"},
	}},
	Run: func(ctx context.Context, env *e2e.Env) {
		group, first, pool := fixtures.Key("group"), fixtures.NodePool(), fixtures.NodePool()
		leader := fixtures.Deployment(1).On(first).Label(group, first.GetName())
		env.Create(ctx, first, leader)
		env.Await(ctx, 1, check.RunningPods(leader))
		here := karpenter.Label(env.Await(ctx, 1, check.ReadyNodes(first))[0].Unstructured(), zone)
		app := fixtures.Deployment(1).On(pool).Label(group, first.GetName()).Require(zone, fixtures.NotIn, here).
			Near(fixtures.PodTerm(zone).Of(group, first.GetName()))

		before := env.Mark()
		env.Create(ctx, pool, app)
		env.AwaitAtLeast(ctx, 1, decisions(app, pool, before))
		env.Observe(ctx, karpenter.PodsRetried)

		env.Expect(env.Since(before), passedOver(pool, app))
	},
})
