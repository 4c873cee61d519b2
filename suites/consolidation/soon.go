package consolidation

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// What keeps a node for some time is over at some time: its pods have been left alone for
// consolidateAfter, and the pod that it was launched for runs there. Karpenter then removes it
// soon if its pods fit on another one. It must not have settled the matter when it last looked,
// at other nodes, while this one could not go. Nothing else changes on a calm cluster, so users
// would pay for the node until Karpenter looks again anyway.
//
// Source: spec.disruption.consolidateAfter of the NodePool API; Karpenter:
// pkg/controllers/state/cluster.go, MarkUnconsolidated.
var _ = e2e.Table(Suite, map[string]temporary{
	"left-alone": {"consolidateAfter is over", 30 * time.Second, false},
	"nominated":  {"the pod runs that it was launched for", 0, true},
}, func(row temporary) e2e.Spec {
	return e2e.Spec{
		Name:   "removes a node soon after " + row.over,
		Within: 4 * time.Minute,
		Known: []e2e.Known{{
			Releases:  ">=1.0.0 <=1.15.0", // seen in v1.14.3 and v1.15.0
			Issue:     "https://github.com/kubernetes-sigs/karpenter/pull/3291",
			Reason:    "a node that can go from now on is no reason to look again, for up to five minutes",
			Breaks:    []string{"^no pods of .* leads to no nodes of pool .* that stay"},
			Sometimes: row.races,
		}},
		Run: func(ctx context.Context, env *e2e.Env) {
			other := fixtures.NodePool().Consolidate(fixtures.WhenEmptyOrUnderutilized)
			pool := fixtures.NodePool().ConsolidateAfter(row.after.String())
			first, last := launchForPort(ctx, env, other, pool)

			before := env.Mark()
			env.Delete(ctx, first)
			const decided = karpenter.NominationOver + karpenter.DisruptionPolled + karpenter.ConsolidationDecided
			env.Observe(ctx, row.after+decided+time.Second)

			free := check.AllOf(check.None(check.PodsOf(first)), check.Exactly(1, check.RunningPods(last)))
			env.Expect(env.Since(before),
				check.Within(row.after+decided, check.LeadsTo(free, check.None(check.Nodes(pool).Staying()))))
		},
	}
})

// temporary is what keeps a node only for some time.
type temporary struct {
	over  string        // what is so when it is over
	after time.Duration // the consolidateAfter of its pool
	races bool          // where instances start slowly it may be over before Karpenter looks
}
