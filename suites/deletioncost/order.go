package deletioncost

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// The pods of a node that consolidation would rather remove have a lower deletion cost than
// those of another node, and a lower one than pods without a cost. So a workload that shrinks
// gives up the pods that Karpenter would move otherwise. Users say by disruption-cost which
// pods are dear to move.
//
// Source: designs/pod-deletion-cost-controller.md, "Why node-level ranking is the right
// signal" and "Annotation roles"; annotation karpenter.sh/disruption-cost.
var _ = Suite.Add(e2e.Spec{
	Name:   "are lower on a node that consolidation would rather remove",
	Within: within,
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := quietPool()
		keep := fixtures.Deployment(1).On(pool).HostPort(port).Annotate(karpenter.DisruptionCostAnnotation, dear)
		give := fixtures.Deployment(1).On(pool).HostPort(port)

		before := env.Mark()
		env.Create(ctx, pool, keep, give)
		env.Await(ctx, 1, check.RunningPods(keep))
		env.Await(ctx, 1, check.RunningPods(give))
		env.Observe(ctx, ranked)

		env.Expect(env.Since(before), check.Finally(lessThan(keep, give)),
			check.Finally(check.Each(check.RunningPods(keep), "have a cost below zero", belowDefault)))
	},
})
