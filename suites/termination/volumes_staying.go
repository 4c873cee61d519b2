package termination

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter doesn't wait for the volume of a pod that stays. The pod runs until the
// instance ends, and nobody detaches its volume before. Otherwise, node and volume wait
// for each other forever.
//
// Source: pkg/controllers/node/termination/controller.go, filterVolumeAttachments;
// https://github.com/kubernetes-sigs/karpenter/pull/1294.
var _ = Suite.Add(e2e.Spec{
	Name:   "doesn't wait for the volumes of pods that stay",
	Within: 90 * time.Second,
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		volume, claim := fixtures.Volume()
		other, otherClaim := fixtures.Volume()
		staying := fixtures.Pod().On(pool).Tolerate(karpenter.DisruptedTaint).Mount(claim)
		beside := fixtures.Pod().On(pool).Tolerate(karpenter.DisruptedTaint).Mount(otherClaim)
		launchNode(ctx, env, pool)
		env.Create(ctx, volume, claim, staying, other, otherClaim, beside)
		env.Await(ctx, 1, check.RunningPods(staying))
		env.Await(ctx, 1, check.RunningPods(beside))
		node := env.Await(ctx, 1, check.Nodes(pool))[0].Name
		env.Create(ctx, fixtures.Attachment(volume.GetName(), node), fixtures.Attachment(other.GetName(), node))

		before := env.Mark()
		deleteNodeClaim(ctx, env, pool)
		env.Await(ctx, 0, check.Nodes(pool).Old(before))

		env.Expect(env.Since(before), nodesGoAfterDrain(pool),
			check.While(check.Nodes(pool).Deleting(), check.Exactly(1, check.RunningPods(staying))),
			check.While(check.Nodes(pool).Deleting(), check.Exactly(1, check.RunningPods(beside))))
	},
})
