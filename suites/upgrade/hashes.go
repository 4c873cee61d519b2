package upgrade

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A controller that finds pools and NodeClaims with hashes of another version hashes them anew,
// and replaces no node. Every release may hash templates in its own way, and says so by the version.
// Here the controller is stopped, as some users do for an upgrade, and the hashes are those of a release
// that never was. Drift works as before afterwards.
//
// Source: designs/drift-hash-versioning.md; annotation karpenter.sh/nodepool-hash-version.
var _ = Suite.Add(e2e.Spec{
	Name:   "takes over hashes of another version, and replaces nothing for them",
	Within: 5 * time.Minute,
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app := fixtures.Deployment(1).On(pool)
		env.Launch(ctx, 1, pool, app)
		nodeClaim := env.Await(ctx, 1, check.InitializedNodeClaims(pool))[0]
		env.UpgradeCRDs(ctx)
		env.StopController(ctx)
		env.Patch(ctx, nodeClaim, fixtures.AnotherHash)
		env.Patch(ctx, pool, fixtures.AnotherHash)

		before := env.Mark()
		env.UpgradeController(ctx)
		env.Observe(ctx, takenOver)
		upgraded := env.Since(before)
		changed := env.Mark()
		env.Change(ctx, pool.NewTemplate())
		env.Await(ctx, 1, check.RunningPods(app).On(check.ReplacedNodes(pool, before)))

		env.Expect(upgraded,
			check.Always(check.None(check.DriftedNodeClaims(pool))), check.Always(check.None(check.DisruptedNodes(pool))),
			check.LeadsTo(check.AtLeast(1, hashedByAnother(pool)), check.None(hashedByAnother(pool))),
			check.Finally(check.None(check.MisHashed(pool, check.NodeClaims(pool)))))
		env.Expect(env.Since(changed), check.ActsOnDrift(pool))
	},
})
