package buffer

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A buffer for pods that exist only as a template keeps to its own limits, whatever
// number it asks for. Limits say what it may cost. The number says how many pods it is
// for.
//
// Source: spec.limits and spec.podTemplateRef of the CapacityBuffer API; Karpenter's
// regression suite, "should grow buffer replicas when limits are increased".
var _ = Suite.Add(e2e.Spec{
	Name:  "is no larger than its own limits",
	Known: sharedNode,
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		template := fixtures.PodTemplate().CPU("1").OnePodPerNode().On(pool)
		buffer := fixtures.CapacityBuffer(template).Pods(5).Limit("cpu", "2")
		env.Create(ctx, pool, template)

		before := env.Mark()
		env.Create(ctx, buffer)
		env.Await(ctx, 2, check.InitializedNodeClaims(pool))
		env.Observe(ctx, karpenter.Settled)
		limited, raised := env.Since(before), env.Mark()
		env.Change(ctx, buffer.Limit("cpu", "3"))
		env.Await(ctx, 3, check.InitializedNodeClaims(pool))

		env.Expect(limited,
			check.Always(check.AtMost(2, check.NodeClaims(pool))),
			check.LeadsTo(check.AtLeast(1, check.The(buffer)), check.Exactly(2, check.ReadyNodes(pool))))
		env.Expect(env.Since(raised),
			check.After(check.Enters(check.NodeClaims(pool)), "there are three ready nodes",
				check.ForAny(check.Exactly(3, check.ReadyNodes(pool))), karpenter.Nodes))
	},
})
