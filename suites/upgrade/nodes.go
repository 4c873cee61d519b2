package upgrade

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// An upgrade replaces no node: neither those of pools that say little, nor those of pools that
// say much, nor standalone ones. The same holds on the way back. A fleet that is replaced on the
// day of the upgrade costs restarts of every pod, at a time when nobody is sure of the new
// release. At the end the spec changes a template, to show that drift still works.
//
// Source: https://karpenter.sh/docs/upgrading/upgrade-guide; designs/drift-hash-versioning.md:
// "drift ... will not occur" on an upgrade.
var _ = Suite.Add(e2e.Spec{
	Name:   "replaces no node that hasn't drifted",
	Within: 6 * time.Minute,
	Run: func(ctx context.Context, env *e2e.Env) {
		plain, full := fixtures.NodePool(), fullPool()
		few, many := fixtures.Deployment(1).On(plain), tolerant(fixtures.Deployment(2).OnePodPerNode().On(full))
		env.Launch(ctx, 1, plain, few)
		env.Launch(ctx, 2, full, many)

		before := env.Mark()
		env.Upgrade(ctx)
		env.Observe(ctx, takenOver)
		env.Downgrade(ctx)
		env.Observe(ctx, takenOver)
		upgraded := env.Since(before)
		changed := env.Mark()
		env.Change(ctx, plain.NewTemplate())
		env.Await(ctx, 1, check.RunningPods(few).On(check.ReplacedNodes(plain, before)))

		env.Expect(upgraded,
			check.Always(check.Exactly(1, check.ReadyNodes(plain).Staying().Old(before))),
			check.Always(check.Exactly(2, check.ReadyNodes(full).Staying().Old(before))),
			check.Always(check.None(check.DisruptedNodes(nil))),
			check.Always(check.None(check.DriftedNodeClaims(nil))),
			check.Always(check.Exactly(3, check.NodeClaims(nil))))
		env.Expect(env.Since(changed), check.ActsOnDrift(plain))
	},
})
