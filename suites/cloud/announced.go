package cloud

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// announcement is an event by which a cloud announces the end of an instance.
type announcement struct {
	of       string
	hook     providers.HookName
	capacity string
	needs    []providers.Capability
}

// Karpenter drains and replaces a node in time when the cloud announces the end of its
// instance. Its pods are told to end, and others run on a new node meanwhile. The
// instance stays until the last pod has ended. Without notice, requests are lost, but
// here there is a notice.
//
// Source: https://karpenter.sh/docs/concepts/disruption, "Interruption": nodes are tainted,
// drained and terminated ahead of the event.
var _ = e2e.Table(Suite, map[string]announcement{
	"interruption": {
		"the end of a spot instance", providers.Interrupt, karpenter.Spot, []providers.Capability{providers.Spot},
	},
	"maintenance": {"maintenance", providers.Maintain, karpenter.OnDemand, nil},
}, func(a announcement) e2e.Spec {
	return e2e.Spec{
		Name:   "drains and replaces a node in time when the cloud announces " + a.of,
		Needs:  append([]providers.Capability{providers.NodePools, providers.Interruption}, a.needs...),
		Hooks:  []providers.HookName{a.hook, providers.ListInstances},
		Within: 5 * time.Minute,
		Run: func(ctx context.Context, env *e2e.Env) {
			pool := fixtures.NodePool().CapacityType(a.capacity)
			app := fixtures.Deployment(1).On(pool).Lingering()
			instances := env.FollowInstances(ctx)
			node := env.Launch(ctx, 1, pool, app)[0]
			env.Await(ctx, 1, instances)

			before := env.Mark()
			env.Hook(ctx, a.hook, e2e.About(node))
			pod := env.Await(ctx, 1, check.PodsOf(app).Deleting())[0]
			env.Await(ctx, 1, check.RunningPods(app).On(check.ReplacedNodes(pool, before)))
			env.Observe(ctx, karpenter.PodsRetried)
			env.RemoveFinalizers(ctx, pod)
			env.Await(ctx, 0, check.NodeClaims(pool).Old(before))
			env.Await(ctx, 0, instances.Old(before))

			env.Expect(env.Since(before),
				check.While(check.PodsOf(app).Deleting(), check.AllOf(
					check.Exactly(1, instances.Old(before)), check.Exactly(1, check.DisruptedNodes(pool)))),
				check.LeadsTo(check.AtLeast(1, check.PodsOf(app).Deleting()), check.Exactly(1, check.RunningPods(app))),
				check.Always(check.AtMost(1, check.NodeClaims(pool).New(before))))
		},
	}
})
