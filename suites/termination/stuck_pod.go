package termination

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter stops waiting for a pod that still exists a minute after its grace period.
// Otherwise, a finalizer that nobody removes, or a dead kubelet, would keep the instance
// and its cost forever.
//
// Source: pkg/utils/pod/scheduling.go, IsStuckTerminating;
// https://github.com/kubernetes-sigs/karpenter/issues/1776.
var _ = Suite.Add(e2e.Spec{
	Name:   "gives up on a pod that has not ended a minute after its grace period",
	Within: 3 * time.Minute,
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app := fixtures.Pod().On(pool).Lingering()
		launchNode(ctx, env, pool)
		env.Create(ctx, app)
		env.Await(ctx, 1, check.RunningPods(app))

		before := env.Mark()
		deleteNodeClaim(ctx, env, pool)
		pod := env.Await(ctx, 1, check.PodsOf(app).Deleting())[0]
		env.Observe(ctx, karpenter.DrainPolled)
		env.Await(ctx, 0, check.Nodes(pool).Old(before))
		env.RemoveFinalizers(ctx, pod)

		env.Expect(env.Since(before), check.Within(stuck, check.LeadsTo(
			check.AtLeast(1, check.PodsOf(app).Deleting()),
			check.AllOf(check.Exactly(1, check.PodsOf(app).Deleting()),
				check.AtLeast(1, check.NodeClaims(pool).In(karpenter.InstanceTerminating))))))
	},
})

// stuck bounds the wait for a stuck pod and then for the end of its node's instance.
const stuck = karpenter.StuckPod + karpenter.InstanceEnded
