package buffer

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A buffer says whether there is room for all of its pods. Its users see before a rush that
// they aren't ready for it: here the pool's limit leaves room for some pods only.
//
// Source: condition Provisioning of the CapacityBuffer API; designs/capacity-buffers.md.
var _ = Suite.Add(e2e.Spec{
	Name:  "says whether there is room for all of its pods",
	Known: sharedNode,
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().Limit("cpu", "4")
		app := fixtures.Deployment(0).CPU("1").OnePodPerNode().On(pool)
		buffer := fixtures.CapacityBuffer(app).Pods(5)
		env.Create(ctx, pool, app)

		before := env.Mark()
		env.Create(ctx, buffer)
		env.AwaitAtLeast(ctx, 1, check.InitializedNodeClaims(pool))
		env.Await(ctx, 1, check.The(buffer).SayingWhyNot(provisioned))
		env.Observe(ctx, karpenter.DisruptionPolled)
		limited := env.Since(before)
		env.Change(ctx, pool.Limit("cpu", "100"))
		env.Await(ctx, 5, check.InitializedNodeClaims(pool))
		env.Await(ctx, 1, check.The(buffer).In(provisioned))

		env.Expect(limited, check.Always(check.None(check.The(buffer).In(provisioned))))
		env.Expect(env.Since(before),
			check.Always(check.When(check.AtMost(4, check.NodeClaims(pool)), check.None(check.The(buffer).In(provisioned)))),
			check.Finally(check.None(check.The(buffer).SayingWhyNot(provisioned))))
	},
})

// provisioned is the condition type of a CapacityBuffer with room for all of its pods.
const provisioned = "Provisioning"
