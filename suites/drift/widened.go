package drift

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A node that still meets its pool's requirements stays when these are widened. Adding a
// zone to a pool must not replace the nodes in other zones.
//
// Source: https://karpenter.sh/docs/concepts/disruption/#drift, "Dynamic fields".
var _ = Suite.Add(e2e.Spec{
	Name: "leaves nodes alone when their pool's requirements are widened",
	Run: func(ctx context.Context, env *e2e.Env) {
		disk := fixtures.Key("disk")
		pool := fixtures.NodePool().Require(disk, fixtures.In, "slow")
		app := fixtures.Deployment(1).On(pool)
		env.Create(ctx, pool, app)
		env.Await(ctx, 1, check.RunningPods(app))

		before := env.Mark()
		env.Change(ctx, pool.Require(disk, fixtures.In, "slow", "fast"))
		env.Observe(ctx, karpenter.Settled)
		quiet, narrowed := env.Since(before), env.Mark() // since the start of the change, not its end
		env.Change(ctx, pool.Require(disk, fixtures.In, "fast"))
		env.Await(ctx, 1, check.RunningPods(app).On(check.ReplacedNodes(pool, before)))

		env.Expect(quiet, check.Always(check.None(check.DriftedNodeClaims(pool))),
			check.Always(check.None(check.DisruptedNodes(pool))))
		env.Expect(env.Since(narrowed), check.ActsOnDrift(pool))
	},
})
