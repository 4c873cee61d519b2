package deletioncost

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter replaces deletion costs that users have set. With this feature, users leave the
// annotation to Karpenter, and say by disruption-cost what they think. Costs of both in one
// order would mean nothing.
//
// Source: designs/pod-deletion-cost-controller.md, "Annotation roles": "There is no
// overwrite-protection for customer-set PDC values".
var _ = Suite.Add(e2e.Spec{
	Name:   "replace those that users have set",
	Within: within,
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := quietPool()
		app := fixtures.Deployment(1).On(pool).Annotate(corev1.PodDeletionCost, "100")

		before := env.Mark()
		env.Launch(ctx, 1, pool, app)
		env.Observe(ctx, ranked)

		env.Expect(env.Since(before),
			check.LeadsTo(check.AtLeast(1, costingAt("100", app)), check.None(costingAt("100", app))),
			check.Finally(check.Each(check.RunningPods(app), "have a cost below zero", belowDefault)))
	},
})
