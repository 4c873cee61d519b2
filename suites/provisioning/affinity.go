package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A node gets a label value that both its NodePool and the pod's required node affinity
// allow. So a pool with mixed disks serves a pod that must not be on a slow disk.
//
// Source: spec.template.spec.requirements of the NodePool API;
// https://karpenter.sh/docs/concepts/scheduling, "Node affinity".
var _ = Suite.Add(e2e.Spec{
	Name: "honours required node affinity",
	Run: func(ctx context.Context, env *e2e.Env) {
		disk := fixtures.Key("disk")
		pool := fixtures.NodePool().Require(disk, fixtures.In, "fast", "slow")
		avoiding := fixtures.Deployment(1).On(pool).Require(disk, fixtures.NotIn, "slow")
		choosing := fixtures.Deployment(1).On(pool).Require(disk, fixtures.In, "slow")

		before := env.Mark()
		env.Create(ctx, pool, avoiding)
		env.Await(ctx, 1, check.RunningPods(avoiding))
		onlyFast := env.Since(before)
		env.Create(ctx, choosing)
		env.Await(ctx, 1, check.RunningPods(choosing))

		env.Expect(onlyFast, check.Always(check.None(labeledNodes(pool, disk, "slow"))))
		env.Expect(env.Since(before),
			check.Always(check.AtMost(1, labeledNodes(pool, disk, "fast"))),
			check.Always(check.AtMost(1, labeledNodes(pool, disk, "slow"))),
		)
	},
})
