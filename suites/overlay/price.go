package overlay

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter uses NodeOverlay prices to find the cheapest instance type. It replaces a
// node whose type became expensive by a node of another type. A provider's price list
// does not include discounts and licenses.
//
// Source: spec.priceAdjustment of the NodeOverlay API; designs/node-overlay.md.
var _ = Suite.Add(e2e.Spec{
	Name: "of a price decides which instance type is the cheapest",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool, dear := cheapest(ctx, env)
		overlay := fixtures.NodeOverlay().Require(corev1.LabelInstanceTypeStable, fixtures.In, dear).PriceAdjustment("+1000%")

		before := env.Mark()
		env.Create(ctx, overlay)
		env.Await(ctx, 1, check.ReplacedNodes(pool, before))
		env.Await(ctx, 0, check.Nodes(pool).Old(before))

		env.Expect(env.Since(before),
			check.LeadsTo(check.AtLeast(1, check.The(overlay)), check.None(check.Nodes(pool).Old(before))),
			check.Always(check.Each(check.Nodes(pool).New(before), "are of a type that is not so dear",
				check.Labeled(corev1.LabelInstanceTypeStable, dear).Not())))
	},
})

// cheapest launches a node for a pod in a pool that always looks for cheaper nodes. It
// returns the pool and the cheapest instance type. Spot nodes would not be replaced by
// cheaper spot nodes.
func cheapest(ctx context.Context, env *e2e.Env) (pool *fixtures.Pool, instanceType string) {
	pool = fixtures.NodePool().OnDemand().Consolidate(fixtures.WhenEmptyOrUnderutilized)
	node := env.Launch(ctx, 1, pool, fixtures.Deployment(1).On(pool))[0]
	return pool, karpenter.InstanceType(node.Unstructured())
}
