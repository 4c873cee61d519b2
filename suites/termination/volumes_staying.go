package termination

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// The volume of a pod that isn't drained is not waited for: while the pod runs
// nobody detaches it, and the pod runs until the instance is ended. Node and volume
// would wait for each other for ever.
//
// Source: pkg/controllers/node/termination/controller.go, filterVolumeAttachments;
// https://github.com/kubernetes-sigs/karpenter/pull/1294.
var _ = Suite.Add(e2e.Spec{
	Name:   "doesn't wait for the volumes of pods that stay",
	Within: 90 * time.Second,
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		volume, claim := fixtures.Volume()
		staying := fixtures.Pod().On(pool).Tolerate(karpenter.DisruptedTaint).Mount(claim)
		begin(ctx, env, pool)
		env.Create(ctx, volume, claim, staying)
		env.Await(ctx, 1, check.RunningPods(staying))
		env.Create(ctx, fixtures.Attachment(volume.GetName(), env.Await(ctx, 1, check.Nodes(pool))[0].Name))

		before := env.Mark()
		end(ctx, env, pool)
		env.Await(ctx, 0, check.Nodes(pool).Old(before))

		env.Expect(env.Since(before), gone(pool),
			check.While(check.Nodes(pool).Deleting(), check.Exactly(1, check.RunningPods(staying))))
	},
})
