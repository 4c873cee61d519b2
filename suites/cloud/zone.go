package cloud

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// A pod that would rather be in a zone that has no capacity gets its node in another one:
// that a zone is full is what the others are there for. That it was asked for first shows
// by the launch that failed.
//
// Source: pkg/cloudprovider/types.go, InsufficientCapacityError: offerings without
// capacity aren't available; https://karpenter.sh/docs/concepts/scheduling, "Preferences".
var _ = Suite.Add(e2e.Spec{
	Name:   "that has no capacity in one zone gives a node in another",
	Needs:  []providers.Capability{providers.NodePools, providers.Zones},
	Hooks:  []providers.HookName{providers.FailNextLaunch},
	Within: 5 * time.Minute,
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().Require(karpenter.CapacityTypeLabel, fixtures.In, karpenter.OnDemand)
		first := fixtures.Deployment(1).On(pool)
		full := about(running(ctx, env, pool, first, 1)[0]).Zone
		app := fixtures.Deployment(1).On(pool).Apart(first, corev1.LabelHostname).Prefer(1, corev1.LabelTopologyZone, fixtures.In, full)

		before, old := env.Now(), env.World()
		env.Hook(ctx, providers.FailNextLaunch, providers.HookValues{Zone: full})
		env.Create(ctx, app)
		env.AwaitAtLeast(ctx, 1, refused(old))
		env.Await(ctx, 1, check.RunningPods(app))

		env.Expect(env.Since(before),
			check.Always(check.AtMost(2, asked(pool))),
			check.Always(check.Each(check.Nodes(pool).New(old), "are in another zone", outside(full))),
			check.LeadsTo(check.AtLeast(1, refused(old)), check.Exactly(1, check.RunningPods(app))))
	},
})

// outside says whether a node isn't in a zone.
func outside(zone string) func(*unstructured.Unstructured) bool {
	return func(node *unstructured.Unstructured) bool {
		return karpenter.Label(node, corev1.LabelTopologyZone) != zone
	}
}
