package nodeclaim

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// ttl is the age at which the NodeClaim expires. It leaves just enough time to launch its
// node.
const ttl = 20 * time.Second

// A NodeClaim expires at the age in its own expireAfter. Its creator plans the work by
// this age, and no NodePool sets another. Here a NodeClaim with expireAfter Never stays.
//
// Source: spec.expireAfter of the NodeClaim API; designs/forceful-expiration.md.
var _ = Suite.Add(e2e.Spec{
	Name: "expires at the age that it says itself",
	Run: func(ctx context.Context, env *e2e.Env) {
		mortal, eternal := fixtures.NodeClaim().ExpireAfter(ttl.String()), fixtures.NodeClaim()
		nodes := newNodes(env, eternal)

		before := env.Mark()
		env.Create(ctx, mortal, eternal)
		env.Await(ctx, 1, check.The(mortal).In(karpenter.Initialized))
		env.Await(ctx, 1, check.The(eternal).In(karpenter.Initialized))
		env.Await(ctx, 0, check.The(mortal))
		env.Await(ctx, 1, nodes)

		env.Expect(env.Since(before),
			check.Always(check.Each(check.The(mortal).Deleting(), "are as old as expireAfter says",
				check.DeletedAt(ttl, 10*time.Second))),
			check.Always(check.None(check.The(eternal).Deleting())))
	},
})
