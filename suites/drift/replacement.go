package drift

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter removes a drifted node only when its replacement is ready. The pool never has
// fewer nodes that can run pods than before. A drift that deletes before it launches is
// an outage for all pods that need the room.
//
// Source: designs/drift.md; https://karpenter.sh/docs/concepts/disruption,
// "Control Flow": pre-spin of replacements.
var _ = Suite.Add(e2e.Spec{
	Name: "keeps nodes until their replacements are ready",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app := fixtures.Deployment(2).On(pool)
		env.Create(ctx, pool, app)
		env.Await(ctx, 2, check.RunningPods(app))

		before := env.Mark()
		env.Change(ctx, pool.NewTemplate())
		env.Await(ctx, 2, check.RunningPods(app).On(check.ReplacedNodes(pool, before)))
		env.Await(ctx, 0, check.Nodes(pool).Old(before))

		env.Expect(env.Since(before), check.ActsOnDrift(pool),
			check.While(check.PodsOf(app), check.AtLeast(1, check.ReadyNodes(pool).Staying())))
	},
})
