package upgrade

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// narrowed is what the CRDs of some releases accept and those of later ones refuse.
type narrowed struct {
	what    string
	write   func(*fixtures.Pool)
	because string // part of the later CRDs' message
}

// What the new CRDs refuse is refused for new pools, and a pool that says so from before can still be
// changed, and deleted. Users learn of a new rule when they write something new, and not
// when a label or a weight of an old pool changes. The spec is skipped unless the old CRDs accept what the
// new ones refuse.
//
// Source: https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions,
// "Validation ratcheting"; the CRDs of Karpenter v1.1.5 and v1.5.5: a pattern that matched the beginning only.
var _ = e2e.Table(Suite, map[string]narrowed{
	"expire-after": {"an odd expireAfter", func(p *fixtures.Pool) { p.ExpireAfter("720h0m0.5s") }, "expireAfter"},
	"consolidate-after": {
		"an odd consolidateAfter", func(p *fixtures.Pool) { p.ConsolidateAfter("10m0.5s") }, "consolidateAfter",
	},
}, func(n narrowed) e2e.Spec {
	return e2e.Spec{
		Name:   "refuses " + n.what + " in new pools only",
		Within: 5 * time.Minute,
		Run: func(ctx context.Context, env *e2e.Env) {
			old, fresh := fixtures.NodePool(), fixtures.NodePool()
			app := fixtures.Deployment(1).On(old)
			n.write(old)
			n.write(fresh)
			env.RequireAccepted(ctx, fresh)
			env.Launch(ctx, 1, old, app)

			before := env.Mark()
			env.UpgradeCRDs(ctx)
			env.RequireRefused(ctx, n.because, fresh)
			env.Change(ctx, old.Weight(5))
			env.UpgradeController(ctx)
			env.Observe(ctx, takenOver)
			env.Refused(ctx, n.because, fresh)
			env.Change(ctx, old.Weight(6))
			upgraded := env.Since(before)
			env.Delete(ctx, old)
			env.Await(ctx, 0, check.The(old))

			env.Expect(upgraded, check.Always(check.None(check.DisruptedNodes(old))),
				check.Always(check.Exactly(1, check.ReadyNodes(old).Old(before))))
		},
	}
})
