package overlay

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Of two overlays for one instance type the heavier counts: the lighter one, which makes
// the type a bargain, keeps no node of it. A rule for all types and an exception for
// one are two overlays.
//
// Source: spec.weight of the NodeOverlay API; designs/node-overlay.md.
var _ = Suite.Add(e2e.Spec{
	Name:  "with more weight counts before a lighter one",
	Needs: needs(),
	Gate:  gate,
	Since: since(),
	Run: func(ctx context.Context, env *e2e.Env) {
		pool, dear := cheapest(ctx, env)
		light := fixtures.NodeOverlay().Require(corev1.LabelInstanceTypeStable, fixtures.In, dear).Price("0.0001").Weight(1)
		heavy := fixtures.NodeOverlay().Require(corev1.LabelInstanceTypeStable, fixtures.In, dear).PriceAdjustment("+1000%").Weight(10)
		env.Create(ctx, light)
		env.Await(ctx, 1, overlays(light).With("that are ready", check.True(karpenter.Ready)))

		before, old := env.Now(), env.World()
		env.Create(ctx, heavy)
		env.Await(ctx, 1, check.ReplacedNodes(pool, old))
		env.Await(ctx, 0, check.Nodes(pool).Old(old))

		env.Expect(env.Since(before),
			check.LeadsTo(check.AtLeast(2, overlays(light, heavy)), check.None(check.Nodes(pool).Old(old))),
			check.Always(check.Each(check.Nodes(pool).New(old), "are of a type that is not so dear", unlike(dear))))
	},
})
