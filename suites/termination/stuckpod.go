package termination

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// A pod that doesn't come to its end a minute after it should have is waited for
// no longer: a finalizer that nobody removes, or a kubelet that has died, would
// keep the instance, and its price, for ever.
//
// Source: pkg/utils/pod/scheduling.go, IsStuckTerminating;
// https://github.com/kubernetes-sigs/karpenter/issues/1776.
var _ = Suite.Add(e2e.Spec{
	Name:   "gives up on a pod that has not ended a minute after its time",
	Needs:  []providers.Capability{providers.NodePools},
	Within: 3 * time.Minute,
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app := fixtures.Pod().On(pool).Lingering()
		begin(ctx, env, pool)
		env.Create(ctx, app)
		env.Await(ctx, 1, check.RunningPods(app))

		before, old := env.Now(), env.World()
		end(ctx, env, pool)
		pod := env.Await(ctx, 1, ending(app))[0]
		env.Watch(ctx, settled)
		env.Await(ctx, 0, check.Nodes(pool).Old(old))
		free(ctx, env, pod)

		env.Expect(env.Since(before), check.Within(stuck, check.LeadsTo(
			check.AtLeast(1, ending(app)),
			check.AllOf(check.Exactly(1, ending(app)), check.AtLeast(1, in(pool, karpenter.InstanceTerminating))))))
	},
})

// stuck is how long a pod is waited for that doesn't end, and some seconds for
// the instance to be ended then.
const stuck = 80 * time.Second
