package drift

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A node drifts when its pool's requirements no longer allow it. Requirements are no
// static field, so Karpenter compares the node's own label. Users can get rid of a kind
// of machine this way.
//
// Source: https://karpenter.sh/docs/concepts/disruption/#drift, "Dynamic fields";
// drift reason RequirementsDrifted.
var _ = Suite.Add(e2e.Spec{
	Name: "replaces nodes that no longer meet their pool's requirements",
	Run: func(ctx context.Context, env *e2e.Env) {
		disk := fixtures.Key("disk")
		pool := fixtures.NodePool().Require(disk, fixtures.In, "slow")
		app := fixtures.Deployment(1).On(pool)
		env.Create(ctx, pool, app)
		env.Await(ctx, 1, check.RunningPods(app))

		before := env.Mark()
		env.Change(ctx, pool.Require(disk, fixtures.In, "fast"))
		env.Await(ctx, 1, check.RunningPods(app).On(check.ReplacedNodes(pool, before)))
		env.Await(ctx, 0, check.Nodes(pool).Old(before))

		fast := check.Labeled(disk, "fast")
		env.Expect(env.Since(before), check.ActsOnDrift(pool),
			check.Always(check.Each(check.RegisteredNodes(pool).New(before), "have a fast disk", fast)))
	},
})
