package drift

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// A NodeClass has a hash of what it says, and the version of that hash. So has each NodeClaim
// that is launched with it. The provider compares the two, to see which nodes drift, and the
// versions tell a change of the NodeClass from one of the provider's release.
//
// Source: designs/drift-hash-versioning.md; designs/drift.md.
var _ = Suite.Add(e2e.Spec{
	Name:  "can be seen in the hashes of a NodeClass and its NodeClaims",
	Needs: []providers.Capability{providers.NodePools, providers.NodeClassHash},
	Run: func(ctx context.Context, env *e2e.Env) {
		class, hash := env.NodeClass(ctx), env.NodeClassHash()
		pool := fixtures.NodePool()

		before := env.Mark()
		env.Launch(ctx, 1, pool, fixtures.Deployment(1).On(pool))

		launched := check.NodeClaims(pool).In(karpenter.Launched)
		env.Expect(env.Since(before),
			check.Finally(check.Each(check.The(class), "have a hash and its version", hashed(hash))),
			check.Always(check.Each(launched, "have a hash and its version", hashed(hash))),
			check.Always(check.None(hashedOtherwise(hash, class, launched))))
	},
})
