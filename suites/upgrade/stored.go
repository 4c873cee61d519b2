package upgrade

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// What is stored stays readable and keeps every field, under the new CRDs, under the new controller
// and on the way back. A field that a controller drops when it writes, or that a CRD no longer
// knows, is a setting that a user has lost without being told.
//
// Source: https://kubernetes.io/docs/reference/using-api/deprecation-policy, rule 2: objects round-trip
// without loss; NodePool and NodeClaim API v1.
var _ = Suite.Add(e2e.Spec{
	Name:   "keeps every field of what is stored",
	Within: 6 * time.Minute,
	Run: func(ctx context.Context, env *e2e.Env) {
		plain, full := fixtures.NodePool(), fullPool()
		few, many := fixtures.Deployment(1).On(plain), tolerant(fixtures.Deployment(2).OnePodPerNode().On(full))
		env.Launch(ctx, 1, plain, few)
		env.Launch(ctx, 2, full, many)
		env.Observe(ctx, takenOver) // until the old controller writes no more

		before := env.Mark()
		stored := keepsFields(env.World())
		env.Upgrade(ctx)
		env.Observe(ctx, takenOver)
		env.Change(ctx, plain.OwnLabel(team, "blue"), full.OwnLabel(team, "blue")) // stores them anew
		env.Downgrade(ctx)
		env.Observe(ctx, takenOver)

		env.Expect(env.Since(before), check.Always(stored))
	},
})
