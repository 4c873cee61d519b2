package drift

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Once the nodes match their template, drift stops. No replacement drifts, and Karpenter
// launches and disrupts nothing more. If drift started over with each new node, the
// restarts of its pods would never end. Karpenter acts on the next change as on the
// first.
//
// Source: designs/drift.md.
var _ = Suite.Add(e2e.Spec{
	Name: "stops when the nodes match their template",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app := fixtures.Deployment(2).OnePodPerNode().On(pool)
		env.Create(ctx, pool, app)
		env.Await(ctx, 2, check.RunningPods(app))

		old := env.Mark()
		env.Change(ctx, pool.NewTemplate())
		env.Await(ctx, 2, check.RunningPods(app).On(check.ReplacedNodes(pool, old)))
		env.Await(ctx, 0, check.NodeClaims(pool).Old(old))
		replaced := env.Mark()
		quiet := env.Observe(ctx, karpenter.NominationOver)
		changed := env.Mark()
		env.Change(ctx, pool.NewTemplate())
		env.Await(ctx, 2, check.RunningPods(app).On(check.ReplacedNodes(pool, replaced)))

		env.Expect(quiet,
			check.Always(check.None(check.DriftedNodeClaims(pool))), check.Always(check.None(check.DisruptedNodes(pool))),
			check.Always(check.None(check.NodeClaims(pool).New(replaced))))
		env.Expect(env.Since(changed), check.ActsOnDrift(pool))
	},
})
