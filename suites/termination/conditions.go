package termination

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A deleted NodeClaim gets three conditions in order. It gets Drained when pods are gone,
// VolumesDetached when volumes are gone, and InstanceTerminating when its instance is
// being terminated. Users read there what delays a node. Here a pod and a volume delay
// it, so that the conditions come one by one.
//
// Source: status.conditions of the NodeClaim API;
// pkg/controllers/node/termination/controller.go.
var _ = Suite.Add(e2e.Spec{
	Name:  "sets the conditions Drained, VolumesDetached and InstanceTerminating in that order",
	Since: e2e.Since{Karpenter: "1.6"},
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app := fixtures.Pod().On(pool).Lingering()
		launchNode(ctx, env, pool)
		env.Create(ctx, app)
		env.Await(ctx, 1, check.RunningPods(app))
		attachment := fixtures.Attachment("volume", env.Await(ctx, 1, check.Nodes(pool))[0].Name)
		env.Create(ctx, attachment)

		before := env.Mark()
		deleteNodeClaim(ctx, env, pool)
		releasePod(ctx, env, app, turn)
		env.Await(ctx, 1, check.NodeClaims(pool).In(karpenter.Drained))
		env.Observe(ctx, turn)
		env.Delete(ctx, attachment)
		env.Await(ctx, 0, check.NodeClaims(pool).Old(before))

		env.Expect(env.Since(before),
			check.While(check.PodsOf(app).Deleting(), check.None(check.NodeClaims(pool).In(karpenter.Drained))),
			check.ComesWith(check.NodeClaims(pool), karpenter.VolumesDetached, karpenter.Drained),
			check.ComesWith(check.NodeClaims(pool), karpenter.InstanceTerminating, karpenter.VolumesDetached))
	},
})
