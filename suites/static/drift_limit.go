package static

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A static pool that is at its limit of nodes does not exceed the limit to drift. It
// waits, and drifts when the limit has room for a replacement. The limit stands for the
// user's quota.
//
// Source: designs/static-capacity.md, "Static NodePool limits"; Karpenter's regression
// suite, "should handle drift with node limits when budget allows".
var _ = Suite.Add(e2e.Spec{
	Name:   "never exceeds a limit of nodes while it drifts",
	Within: 4 * time.Minute,
	Known:  racingReplacements,
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().Replicas(2).Limit("nodes", "2")
		env.Create(ctx, pool)
		env.Await(ctx, 2, check.InitializedNodeClaims(pool))

		before := env.Mark()
		env.Change(ctx, pool.NewTemplate())
		env.Await(ctx, 2, check.DriftedNodeClaims(pool))
		env.Observe(ctx, karpenter.DisruptionPolled)
		limited, raised := env.Since(before), env.Mark()
		env.Change(ctx, pool.Limit("nodes", "3"))
		env.Await(ctx, 2, check.ReplacedNodes(pool, before))
		awaitRest(ctx, env, pool, before)

		drifting := check.AtLeast(1, check.DriftedNodeClaims(pool))
		env.Expect(limited, check.Always(check.When(drifting, check.AtMost(2, check.NodeClaims(pool)))))
		env.Expect(env.Since(raised), check.GoesFor(fixtures.Drifted, pool),
			check.Always(check.When(drifting, check.AtMost(3, check.NodeClaims(pool)))),
			check.LeadsTo(check.AtLeast(1, check.DisruptedNodes(pool)), check.None(check.Nodes(pool).Old(before))))
		removeNodes(ctx, env, pool)
	},
})
