package termination

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter terminates an instance only after its volumes are detached. A volume cut off
// from a running machine can lose data, and can't be attached to another machine for
// minutes. The attach-detach controller detaches volumes.
//
// Source: condition VolumesDetached of the NodeClaim API;
// pkg/controllers/node/termination/controller.go, awaitVolumeDetachment;
// https://github.com/kubernetes-sigs/karpenter/pull/1294.
var _ = Suite.Add(e2e.Spec{
	Name:  "waits until the volumes of a drained node are detached",
	Since: e2e.Since{Karpenter: "1.6"},
	Run: func(ctx context.Context, env *e2e.Env) {
		pool, app := fixtures.NodePool(), fixtures.Deployment(1)
		env.Create(ctx, pool, app.On(pool))
		env.Await(ctx, 1, check.RunningPods(app))
		attachment := fixtures.Attachment("volume", env.Await(ctx, 1, check.Nodes(pool))[0].Name)
		env.Create(ctx, attachment)

		before := env.Mark()
		deleteNodeClaim(ctx, env, pool)
		env.Await(ctx, 1, check.NodeClaims(pool).In(karpenter.Drained))
		attached := env.Observe(ctx, karpenter.DrainPolled)
		env.Delete(ctx, attachment)
		env.Await(ctx, 0, check.Nodes(pool).Old(before))

		env.Expect(attached, check.While(check.NodeClaims(pool).In(karpenter.Drained), check.AllOf(
			check.Exactly(1, check.Nodes(pool).Deleting()),
			check.None(check.NodeClaims(pool).In(karpenter.VolumesDetached)),
			check.None(check.NodeClaims(pool).In(karpenter.InstanceTerminating)))))
		env.Expect(env.Since(before), nodesGoAfterDrain(pool))
	},
})
