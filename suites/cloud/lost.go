package cloud

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// loss is the number of responses in a row that the cloud loses.
type loss struct {
	of      string
	answers int
}

// The pod ends up with one node and one instance although responses to launches are lost.
// Nobody knows then whether there is an instance. The provider finds and ends a second
// instance, because users would pay for it. A repeated request may return the first
// instance. So the case for-a-while loses more responses than are requested in one go.
//
// Source: pkg/cloudprovider/types.go: List retrieves all that was launched, Create launches
// one for a NodeClaim; https://karpenter.sh/docs/concepts/nodeclaims.
var _ = e2e.Table(Suite, map[string]loss{
	"once":        {"the response to a launch", 1},
	"for-a-while": {"responses to launches for a while", 5},
}, func(l loss) e2e.Spec {
	return e2e.Spec{
		Name:   "ends with one instance for the pod when the cloud loses " + l.of,
		Needs:  []providers.Capability{providers.NodePools, providers.InstanceGC},
		Hooks:  []providers.HookName{providers.LoseAnswer, providers.ListInstances},
		Within: 5 * time.Minute,
		Run: func(ctx context.Context, env *e2e.Env) {
			pool := fixtures.NodePool()
			app := fixtures.Deployment(1).On(pool)
			env.Create(ctx, pool)
			instances := env.FollowInstances(ctx)

			before := env.Mark()
			env.Hook(ctx, providers.LoseAnswer, providers.HookValues{Count: l.answers})
			env.Create(ctx, app)
			env.Await(ctx, 1, check.RunningPods(app))
			env.Observe(ctx, karpenter.PodsRetried)
			env.Await(ctx, 1, instances)
			env.Await(ctx, 1, check.Nodes(pool))

			env.Expect(env.Since(before),
				check.Always(check.AtMost(1, check.NodeClaims(pool).Staying())),
				check.Always(check.AtMost(1+l.answers, instances)),
				check.Finally(check.Exactly(1, instances)),
				check.Finally(check.Exactly(1, check.RunningPods(app).On(check.ReadyNodes(pool)))))
		},
	}
})
