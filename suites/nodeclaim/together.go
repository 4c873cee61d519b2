package nodeclaim

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// NodeClaims that are created at the same moment and ask for the same get an instance
// and a node each, and no others. Providers launch equal instances together or from one
// group of machines. Two NodeClaims must not take the same machine, and no machine may
// be launched for both of them.
//
// Source: status.providerID of the NodeClaim API; pkg/cloudprovider/types.go: Create
// launches an instance for one NodeClaim.
var _ = Suite.Add(e2e.Spec{
	Name: "gets an instance of its own although equal ones are created at the same moment",
	Run: func(ctx context.Context, env *e2e.Env) {
		a, b, c := fixtures.NodeClaim(), fixtures.NodeClaim(), fixtures.NodeClaim()
		nodes := newNodes(env, a, b, c)

		before := env.Mark()
		env.Create(ctx, a, b, c)
		env.Await(ctx, 3, check.The(a, b, c).In(karpenter.Initialized))
		env.Await(ctx, 3, nodes)
		env.Observe(ctx, karpenter.Settled)

		env.Expect(env.Since(before),
			check.Always(check.AtMost(3, nodes)),
			check.Always(check.None(check.The(a, b, c).Deleting())),
			check.Finally(check.Exactly(3, nodes.With("that are ready", karpenter.NodeReady))))
	},
})
