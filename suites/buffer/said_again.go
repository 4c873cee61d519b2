package buffer

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A buffer that had room for its pods says so when that is gone: when pods have taken it, and
// the pool's limit allows no more, and when new pods take more than it has. Who relies on the room
// must hear that it isn't there.
//
// Source: condition Provisioning of the CapacityBuffer API; designs/capacity-buffers.md.
var _ = Suite.Add(e2e.Spec{
	Name:  "says that its room was taken, as long as it isn't there again",
	Known: sharedNode,
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().Limit("nodes", "1")
		app := fixtures.Deployment(0).OnePodPerNode().On(pool)
		buffer := fixtures.CapacityBuffer(app).Pods(1)
		env.Create(ctx, pool, app, buffer)
		env.Await(ctx, 1, check.The(buffer).In(provisioned))

		before := env.Mark()
		env.Change(ctx, app.Replicas(1))
		env.Await(ctx, 1, check.The(buffer).SayingWhyNot(provisioned))
		env.Change(ctx, pool.Limit("nodes", "10"))
		env.Await(ctx, 1, check.The(buffer).In(provisioned))
		env.Change(ctx, app.Replicas(3))
		env.Await(ctx, 1, check.The(buffer).SayingWhyNot(provisioned))
		env.Await(ctx, 3, check.RunningPods(app))
		env.Await(ctx, 1, check.The(buffer).In(provisioned))

		env.Expect(env.Since(before),
			check.LeadsTo(check.AtLeast(1, check.BoundPods(app)), check.None(check.The(buffer).In(provisioned))),
			check.LeadsTo(check.AtLeast(3, check.PodsOf(app)), check.None(check.The(buffer).In(provisioned))),
			check.LeadsTo(check.AtLeast(3, check.RunningPods(app)), check.Exactly(1, check.The(buffer).In(provisioned))))
	},
})
