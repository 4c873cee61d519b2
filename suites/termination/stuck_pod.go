package termination

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A pod that doesn't come to its end a minute after it should have is waited for
// no longer: a finalizer that nobody removes, or a kubelet that has died, would
// keep the instance, and its price, for ever.
//
// Source: pkg/utils/pod/scheduling.go, IsStuckTerminating;
// https://github.com/kubernetes-sigs/karpenter/issues/1776.
var _ = Suite.Add(e2e.Spec{
	Name:   "gives up on a pod that has not ended a minute after its grace period",
	Within: 3 * time.Minute,
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app := fixtures.Pod().On(pool).Lingering()
		begin(ctx, env, pool)
		env.Create(ctx, app)
		env.Await(ctx, 1, check.RunningPods(app))

		before := env.Mark()
		end(ctx, env, pool)
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

// stuck is how long a pod is waited for that doesn't end, and its node's instance then.
const stuck = karpenter.StuckPod + karpenter.InstanceEnded
