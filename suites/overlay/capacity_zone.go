package overlay

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// A NodeOverlay that gives nodes of one zone a device gives it to no others. A pod that needs the
// device in another zone gets no node, since it can't run on one there.
//
// Source: spec.requirements of the NodeOverlay API, "constrain when this NodeOverlay is applied";
// designs/node-overlay.md, "Requirements": "additional constraints such as NodePool, NodeClass,
// availability zone".
var _ = Suite.Add(e2e.Spec{
	Name:  "of capacity in one zone gives no node to pods that need it in another",
	Needs: []providers.Capability{providers.Zones},
	Known: []e2e.Known{{
		Releases: ">=1.8.0 <=1.15.0", // seen in v1.14.3 and v1.15.0; the source is the same in v1.9.0
		Issue:    e2e.Finding("karpenter-capacity-in-zones-that-nodeoverlays-exclude"),
		Reason:   "an overlay of capacity applies to all offerings of a type of which it selects one",
		Breaks:   []string{"^always no NodeClaims of pool .* that are new"},
	}},
	Run: func(ctx context.Context, env *e2e.Env) {
		device, pool := fixtures.Key("device"), fixtures.NodePool()
		here, there := env.TwoZones(ctx, pool)
		overlay := fixtures.NodeOverlay().On(pool).
			Require(corev1.LabelTopologyZone, fixtures.In, here).Capacity(device, "1")
		app := fixtures.Deployment(1).Extended(device, "1").On(pool).Select(corev1.LabelTopologyZone, there)

		before := env.Mark()
		env.Create(ctx, overlay, app)
		env.Await(ctx, 1, check.The(overlay).In(karpenter.Ready))
		env.Observe(ctx, karpenter.PodsRetried)

		env.Expect(env.Since(before),
			check.Always(check.None(check.NodeClaims(pool).New(before).AmongObjects(check.PodsOf(app)))))
	},
})
