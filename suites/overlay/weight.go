package overlay

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Of two NodeOverlays for one instance type, Karpenter uses the heavier. Here the lighter
// makes the type cheap, but its node is still replaced. So a rule for all types can have
// an exception.
//
// Source: spec.weight of the NodeOverlay API; designs/node-overlay.md.
var _ = Suite.Add(e2e.Spec{
	Name: "with more weight takes precedence over one with less",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool, dear := cheapest(ctx, env)
		light := fixtures.NodeOverlay().Require(corev1.LabelInstanceTypeStable, fixtures.In, dear).Price("0.0001").Weight(1)
		heavy := fixtures.NodeOverlay().Require(corev1.LabelInstanceTypeStable, fixtures.In, dear).PriceAdjustment("+1000%").
			Weight(10)
		env.Create(ctx, light)
		env.Await(ctx, 1, check.The(light).In(karpenter.Ready))

		before := env.Mark()
		env.Create(ctx, heavy)
		env.Await(ctx, 1, check.ReplacedNodes(pool, before))
		env.Await(ctx, 0, check.Nodes(pool).Old(before))

		env.Expect(env.Since(before),
			check.LeadsTo(check.AtLeast(2, check.The(light, heavy)), check.None(check.Nodes(pool).Old(before))),
			check.Always(check.Each(check.Nodes(pool).New(before), "are of a type that is not so dear",
				check.Labeled(corev1.LabelInstanceTypeStable, dear).Not())))
	},
})
