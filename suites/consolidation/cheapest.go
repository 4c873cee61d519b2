package consolidation

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter keeps a node that is the cheapest for its pods. It does not replace a node
// that was just launched, for a pod or by consolidation, with a cheaper node. Otherwise
// pods would be moved forever. Here a node that is too large is replaced meanwhile, once.
//
// Source: https://karpenter.sh/docs/concepts/disruption, "Consolidation": a node is
// replaced only by a cheaper one.
var _ = Suite.Add(e2e.Spec{
	Name:   "keeps the node that is the cheapest for its pods",
	Within: 3 * time.Minute,
	Run: func(ctx context.Context, env *e2e.Env) {
		fit := fixtures.NodePool().OnDemand().Consolidate(fixtures.WhenEmptyOrUnderutilized)
		loose := fixtures.NodePool().OnDemand().Consolidate(fixtures.WhenEmptyOrUnderutilized)
		fitting, app := fixtures.Deployment(1).On(fit), fixtures.Deployment(1).On(loose)
		large := fixtures.Deployment(1).On(loose).CPU("3")
		env.Create(ctx, fit, loose, fitting, large)
		env.Await(ctx, 1, check.RunningPods(fitting))
		env.Await(ctx, 1, check.RunningPods(large))
		env.Create(ctx, app)
		env.Await(ctx, 1, check.RunningPods(app))
		env.Observe(ctx, karpenter.NominationOver)

		before := env.Mark()
		env.Delete(ctx, large)
		env.Await(ctx, 1, check.RunningPods(app).On(check.ReplacedNodes(loose, before)))
		env.Observe(ctx, karpenter.NominationOver+karpenter.ConsolidationDecided)

		env.Expect(env.Since(before),
			check.Always(check.When(check.None(check.PodsOf(large)), neverDisrupted(fitting, fit))),
			check.Always(check.AtMost(1, check.NodeClaims(loose).New(before))),
			check.LeadsTo(check.AtLeast(1, check.DisruptedNodes(loose)), check.None(check.Nodes(loose).Old(before))))
	},
})
