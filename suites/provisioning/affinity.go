package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Of the values that a pool allows for a label, a node gets one that the pod's
// required node affinity allows too: a pool of mixed disks serves the pod that
// must not be on a slow one.
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

		env.Expect(onlyFast, check.Always(check.None(labelled(pool, disk, "slow"))))
		env.Expect(env.Since(before),
			check.Always(check.AtMost(1, labelled(pool, disk, "fast"))),
			check.Always(check.AtMost(1, labelled(pool, disk, "slow"))),
		)
	},
})
