package drift

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A NodeClaim has the hash of the template that it was made from. Its pool has the hash
// of the current template. Users compare the two to see which nodes a change will replace
// or has replaced.
//
// Source: designs/drift.md; annotations karpenter.sh/nodepool-hash and
// karpenter.sh/nodepool-hash-version.
var _ = Suite.Add(e2e.Spec{
	Name: "can be seen in the hashes of a pool and its NodeClaims",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app := fixtures.Deployment(1).On(pool)
		start := env.Mark()
		env.Create(ctx, pool, app)
		env.Await(ctx, 1, check.RunningPods(app))
		unchanged := env.Since(start)

		before := env.Mark()
		env.Change(ctx, pool.NewTemplate())
		env.Await(ctx, 1, check.RunningPods(app).On(check.ReplacedNodes(pool, before)))
		env.Await(ctx, 0, check.Nodes(pool).Old(before))

		replaced, made := check.NodeClaims(pool).Old(before), check.NodeClaims(pool).New(before)
		env.Expect(unchanged, check.Always(check.None(check.MisHashed(pool, check.NodeClaims(pool)))))
		env.Expect(env.Since(before), check.ActsOnDrift(pool),
			check.While(check.DriftedNodeClaims(pool), check.Exactly(1, check.MisHashed(pool, replaced))),
			check.Always(check.None(check.MisHashed(pool, made))))
	},
})
