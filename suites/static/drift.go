package static

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A static pool replaces its nodes when its template changes, within its budget and each
// with one node, and says why they go. It never has fewer nodes than replicas, because users
// rely on them. It never has more extra nodes than are being replaced.
//
// Source: designs/static-capacity.md, "Drift"; Karpenter's regression suite, "should
// replace drifted nodes".
var _ = Suite.Add(e2e.Spec{
	Name:   "drifts within its budget, and always has a node for each replica",
	Within: 4 * time.Minute,
	Known:  racingReplacements,
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().Replicas(3).Budget("1")
		env.Create(ctx, pool)
		env.Await(ctx, 3, check.InitializedNodeClaims(pool))

		before := env.Mark()
		env.Change(ctx, pool.NewTemplate())
		env.Observe(ctx, karpenter.DisruptionPolled)
		env.Expect(env.Since(before), check.ActsOnDrift(pool))
		env.Await(ctx, 3, check.ReplacedNodes(pool, before))
		awaitRest(ctx, env, pool, before)

		drifting := check.AtLeast(1, check.DriftedNodeClaims(pool))
		// Budgets don't count a drained node whose instance ends. The invariants look after the budget itself.
		undrained := check.NodeClaims(pool).
			With("whose instance doesn't end", check.True(karpenter.InstanceTerminating).Not())
		env.Expect(env.Since(before),
			check.Always(check.When(drifting, check.AtMost(4, undrained))),
			check.Always(check.When(drifting, check.AtLeast(3, check.NodeClaims(pool).Staying()))),
			check.GoesFor(fixtures.Drifted, pool),
			check.LeadsTo(drifting, check.None(check.Nodes(pool).Old(before))))
		removeNodes(ctx, env, pool)
	},
})
