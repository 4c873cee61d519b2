package consolidation

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter removes a node whose pods fit on another one while a pod waits that has room elsewhere, on a
// node whose consolidateAfter isn't over. That node takes no pods of nodes that are removed, but
// the waiting pod will run there. If Karpenter planned a new node for it, nothing would be removed
// as long as it waits: a scheduler of batch jobs holds pods back for hours. The spec plays the
// other scheduler.
//
// Source: spec.disruption.consolidateAfter of the NodePool API; schedulerName of the Pod API;
// Karpenter: pkg/controllers/provisioning/scheduling/scheduler.go, addToExistingNode.
var _ = Suite.Add(e2e.Spec{
	Name: "removes a node whose pods fit on another while a pod waits that has room elsewhere",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().Consolidate(fixtures.WhenEmptyOrUnderutilized)
		other := fixtures.NodePool().ConsolidateAfter("1h")
		app, first := fixtures.Deployment(2).On(pool), fixtures.Deployment(1).On(pool).HostPort(port)
		second := fixtures.Deployment(1).On(pool).HostPort(port).Annotate(karpenter.DoNotDisruptAnnotation, "true")
		there, queued := fixtures.Deployment(1).On(other), fixtures.Pod().On(other).ScheduledBy(fixtures.Domain)
		env.Create(ctx, pool, other, app, first, there)
		env.Await(ctx, 2, check.RunningPods(app))
		env.Await(ctx, 1, check.RunningPods(first))
		env.Await(ctx, 1, check.RunningPods(there))
		env.Create(ctx, second, queued)
		env.Await(ctx, 1, check.RunningPods(second))
		env.PatchStatus(ctx, env.Await(ctx, 1, check.PodsOf(queued))[0], fixtures.Unschedulable)
		env.Observe(ctx, karpenter.NominationOver)

		before := env.Mark()
		env.Delete(ctx, first)
		env.Await(ctx, 1, check.Nodes(pool))
		env.Await(ctx, 2, check.RunningPods(app))

		env.Expect(env.Since(before),
			check.While(check.DisruptedNodes(pool), check.Exactly(1, check.UnschedulablePods(queued))),
			check.LeadsTo(check.AtLeast(1, check.DisruptedNodes(pool)), check.Exactly(1, check.Nodes(pool))),
			check.Always(check.None(check.NodeClaims(other).New(before))))
	},
})
