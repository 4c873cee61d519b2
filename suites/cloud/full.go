package cloud

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/providers"
)

// A pod that prefers a zone which takes no more instances gets a node in another zone, without
// an attempt in the full one. Quotas and groups with a greatest size can be read before a launch,
// so that the pod need not wait for a launch that must fail.
//
// Source: pkg/cloudprovider/types.go, Offering.Available;
// https://karpenter.sh/docs/concepts/scheduling, "Preferences".
var _ = Suite.Add(e2e.Spec{
	Name:   "launches nothing in a zone that takes no more instances",
	Needs:  []providers.Capability{providers.NodePools, providers.Zones},
	Hooks:  []providers.HookName{providers.FillZone},
	Within: 3 * time.Minute,
	Run: func(ctx context.Context, env *e2e.Env) {
		pool, app, full := inAZoneToFill(ctx, env)

		before := env.Mark()
		env.Hook(ctx, providers.FillZone, providers.HookValues{Zone: full})
		env.Create(ctx, app)
		env.Await(ctx, 1, check.RunningPods(app))

		env.Expect(env.Since(before),
			check.Always(check.AtMost(1, check.NodeClaims(pool).New(before))),
			check.Always(check.Each(check.Nodes(pool).New(before), "are in another zone",
				check.Labeled(corev1.LabelTopologyZone, full).Not())),
			check.LeadsTo(check.AtLeast(1, check.NodeClaims(pool).New(before)), check.Exactly(1, check.RunningPods(app))))
	},
})
