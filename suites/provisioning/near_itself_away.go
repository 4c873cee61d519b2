package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// A pod that must be near pods like itself goes where they are. It waits if its pool has no nodes
// in their zone: only the first of all may choose. The scheduler would refuse it in another zone,
// so that the node there stays empty, and is replaced by the next one.
//
// Source: podAffinity of the Pod API; kube-scheduler: pkg/scheduler/framework/plugins/interpodaffinity,
// satisfyPodAffinity.
var _ = Suite.Add(e2e.Spec{
	Name:  "launches nothing for a pod that must be near pods like itself if its pool is elsewhere",
	Needs: []providers.Capability{providers.NodePools, providers.Zones},
	Run: func(ctx context.Context, env *e2e.Env) {
		group, first := fixtures.Key("group"), fixtures.NodePool()
		leader := fixtures.Deployment(1).On(first).Label(group, first.GetName())
		env.Create(ctx, first, leader)
		env.Await(ctx, 1, check.RunningPods(leader))
		here := karpenter.Label(env.Await(ctx, 1, check.ReadyNodes(first))[0].Unstructured(), zone)
		pool := fixtures.NodePool().Require(zone, fixtures.NotIn, here)
		app := fixtures.Deployment(1).On(pool).Label(group, first.GetName()).
			Near(fixtures.PodTerm(zone).Of(group, first.GetName()))

		before := env.Mark()
		env.Create(ctx, pool, app)
		env.AwaitAtLeast(ctx, 1, decisions(app, pool, before))
		env.Observe(ctx, karpenter.PodsRetried)

		env.Expect(env.Since(before), passedOver(pool, app))
	},
})
