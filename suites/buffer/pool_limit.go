package buffer

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A buffer never makes a NodePool exceed its limits, and uses the capacity that they
// leave. A limit bounds the cost of a typing error in a buffer's size. Here a raised
// limit allows the rest.
//
// Source: spec.limits of the NodePool API; Karpenter's regression suite, "should not
// provision buffer capacity beyond NodePool CPU limit".
var _ = Suite.Add(e2e.Spec{
	Name:  "never makes a pool exceed its limits",
	Known: sharedNode,
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().Limit("cpu", "4")
		app := fixtures.Deployment(0).CPU("1").OnePodPerNode().On(pool)
		env.Create(ctx, pool, app)

		before := env.Mark()
		env.Create(ctx, fixtures.CapacityBuffer(app).Pods(5))
		env.AwaitAtLeast(ctx, 1, check.InitializedNodeClaims(pool))
		env.Observe(ctx, karpenter.DisruptionPolled)
		limited, lifted := env.Since(before), env.Mark()
		env.Change(ctx, pool.Limit("cpu", "100"))
		env.Await(ctx, 5, check.InitializedNodeClaims(pool))

		env.Expect(limited,
			check.Always(check.AtMostQuantity(resource.MustParse("4"), check.NodeClaimCapacity(pool, corev1.ResourceCPU))))
		env.Expect(env.Since(lifted),
			check.After(check.Enters(check.NodeClaims(pool)), "there are five ready nodes",
				check.ForAny(check.Exactly(5, check.ReadyNodes(pool))), karpenter.Nodes))
	},
})
