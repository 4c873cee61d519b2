package drift

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// If a release of Karpenter hashes templates in a new way, it hashes NodeClaims anew and
// replaces no nodes. An upgrade must not replace all nodes. Here a pool and a NodeClaim
// carry a hash of another version. Drift works as before afterwards.
//
// Source: designs/drift-hash-versioning.md; annotation
// karpenter.sh/nodepool-hash-version.
var _ = Suite.Add(e2e.Spec{
	Name: "replaces nothing when the hash has another version",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app := fixtures.Deployment(1).On(pool)
		env.Create(ctx, pool, app)
		env.Await(ctx, 1, check.RunningPods(app))
		nodeClaim := env.Await(ctx, 1, check.InitializedNodeClaims(pool))[0]

		before := env.Mark()
		env.Patch(ctx, nodeClaim, fixtures.AnotherHash)
		// Karpenter looks at the pool's NodeClaims when it sees the pool's version, and no more.
		env.Observe(ctx, karpenter.Settled)
		env.Patch(ctx, pool, fixtures.AnotherHash)
		env.Observe(ctx, karpenter.Settled)
		upgraded := env.Since(before)
		changed := env.Mark()
		env.Change(ctx, pool.NewTemplate())
		env.Await(ctx, 1, check.RunningPods(app).On(check.ReplacedNodes(pool, before)))

		hashedBefore := check.NodeClaims(pool).With("hashed before",
			check.Annotated(karpenter.NodePoolHashVersionAnnotation, fixtures.AnotherHashVersion))
		env.Expect(upgraded,
			check.Always(check.None(check.DriftedNodeClaims(pool))), check.Always(check.None(check.DisruptedNodes(pool))),
			check.LeadsTo(check.AtLeast(1, hashedBefore), check.None(hashedBefore)),
			check.Finally(check.None(check.MisHashed(pool, check.NodeClaims(pool)))))
		env.Expect(env.Since(changed), check.ActsOnDrift(pool))
	},
})
