package consolidation

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// With the policy Balanced, Karpenter still saves where that is worth the moves. A node that
// is far too large for a pod that may move at no cost is replaced.
//
// Source: designs/balanced-consolidation.md; spec.disruption.consolidationPolicy.
var _ = Suite.Add(e2e.Spec{
	Name:  "replaces a node that is much too large when its policy is Balanced",
	Since: e2e.Since{Karpenter: "1.14"},
	Run:   replacesLarge,
})

// replacesLarge checks that a pool with the policy Balanced replaces a node that is much too large for its pod.
func replacesLarge(ctx context.Context, env *e2e.Env) {
	pool := fixtures.NodePool().OnDemand().Consolidate(fixtures.Balanced)
	app, large := fixtures.Deployment(1).On(pool), fixtures.Deployment(1).On(pool).CPU("20")
	env.Create(ctx, pool, large)
	env.Await(ctx, 1, check.RunningPods(large))
	env.Create(ctx, app)
	env.Await(ctx, 1, check.RunningPods(app))
	env.Observe(ctx, karpenter.NominationOver)

	before := env.Mark()
	env.Delete(ctx, large)
	env.Await(ctx, 1, check.RunningPods(app).On(check.ReplacedNodes(pool, before)))
	env.Await(ctx, 0, check.Nodes(pool).Old(before))

	env.Expect(env.Since(before),
		check.Always(check.When(check.AtLeast(1, check.PodsOf(large)), check.None(check.DisruptedNodes(pool)))),
		check.LeadsTo(check.AtLeast(1, check.DisruptedNodes(pool)), check.None(check.Nodes(pool).Old(before))),
		check.Always(check.AtMost(2, check.NodeClaims(pool))))
}
