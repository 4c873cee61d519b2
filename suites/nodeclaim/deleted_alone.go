package nodeclaim

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// When one of several equal NodeClaims is deleted, its instance ends and no other.
// Providers that lower the size of a group of machines must say which machine goes, and
// must say it once although Karpenter asks until it is gone. A wrong choice ends a node
// with pods, without any drain.
//
// Source: pkg/cloudprovider/types.go: Delete removes a NodeClaim by its provider ID, and
// is called until there is no instance.
var _ = Suite.Add(e2e.Spec{
	Name:   "ends its own instance and no equal one, when it is deleted",
	Within: 5 * time.Minute,
	Run: func(ctx context.Context, env *e2e.Env) {
		a, b, c := fixtures.NodeClaim(), fixtures.NodeClaim(), fixtures.NodeClaim()
		nodes := newNodes(env, a, b, c)
		env.Create(ctx, a, b, c)
		env.Await(ctx, 3, check.The(a, b, c).In(karpenter.Initialized))
		env.Await(ctx, 3, nodes)

		before := env.Mark()
		env.Delete(ctx, b)
		env.Await(ctx, 0, check.The(b))
		env.Await(ctx, 2, nodes)
		env.Observe(ctx, karpenter.InstanceComparison)

		env.Expect(env.Since(before),
			check.Always(check.Exactly(2, check.The(a, c).Staying())),
			check.Always(check.AtLeast(2, nodes.With("that are ready", karpenter.NodeReady).Staying())),
			check.Always(check.AtMost(1, nodes.Deleting())))
	},
})
