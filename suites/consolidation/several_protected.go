package consolidation

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter removes several nodes in one step also if another node's pod must not be disrupted. The
// pool's terminationGracePeriod, by which drift would end that pod, changes nothing about that. If the
// node were one of those to go, the step would be given up again and again, and nodes would go one by
// one, or not at all. Here the protected node has room for the others' pods.
//
// Source: https://karpenter.sh/docs/concepts/disruption, "Consolidation", multi-node consolidation,
// and "Pod-Level Controls"; designs/nodeclaim-termination-grace-period.md.
var _ = Suite.Add(e2e.Spec{
	Name: "removes several nodes in one step beside one whose pod must not be disrupted",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().OnDemand().TerminationGracePeriod("1h").
			Consolidate(fixtures.WhenEmptyOrUnderutilized)
		protected := fixtures.Deployment(1).On(pool).CPU("3").Annotate(karpenter.DoNotDisruptAnnotation, "true")
		one, two, app := launchLargeNodes(ctx, env, pool)
		env.Create(ctx, protected)
		env.Await(ctx, 1, check.RunningPods(protected))
		env.Observe(ctx, karpenter.NominationOver)

		before := env.Mark()
		env.Delete(ctx, one, two)
		env.Await(ctx, 2, check.DisruptedNodes(pool))
		env.Await(ctx, 1, check.Nodes(pool))
		env.Await(ctx, 1, check.RunningPods(app))

		env.Expect(env.Since(before), check.Always(neverDisrupted(protected, pool)))
		env.ExpectUndisturbed(env.Since(before), check.Within(karpenter.MinDrain,
			check.LeadsTo(check.AtLeast(1, check.DisruptedNodes(pool)), check.Exactly(2, check.DisruptedNodes(pool)))))
	},
})
