package controls

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// If a node has a terminationGracePeriod, a pod that must not be disrupted blocks
// consolidation, but not drift. Such a pod may be ended to close a security hole, but not
// to save money. Here a daemon stays until the grace period ends, and the spec ends
// earlier.
//
// Source: spec.template.spec.terminationGracePeriod of the NodePool API;
// designs/nodeclaim-termination-grace-period.md.
var _ = Suite.Add(e2e.Spec{
	Name: "block consolidation, but not drift, if there is a terminationGracePeriod",
	Run: func(ctx context.Context, env *e2e.Env) {
		guarded := fixtures.NodePool().TerminationGracePeriod("1h").Consolidate(fixtures.WhenEmpty)
		free := fixtures.NodePool().Consolidate(fixtures.WhenEmpty)
		busy := fixtures.DaemonSet().On(guarded).Annotate(karpenter.DoNotDisruptAnnotation, "true")
		first, second := fixtures.Deployment(1).On(guarded), fixtures.Deployment(1).On(free)
		env.Create(ctx, busy)
		env.Launch(ctx, 1, guarded, first)
		env.Launch(ctx, 1, free, second)
		env.Await(ctx, 1, check.RunningPods(busy))

		before := env.Mark()
		env.Change(ctx, first.Replicas(0))
		env.Await(ctx, 0, check.PodsOf(first))
		env.Change(ctx, second.Replicas(0))
		env.Await(ctx, 0, check.Nodes(free))
		env.Expect(env.Since(before), keepsEmptyNodes(guarded, first))

		env.Change(ctx, guarded.NewTemplate())
		env.Await(ctx, 1, check.DisruptedNodes(guarded))
		env.Expect(env.Since(before), check.ActsOnDrift(guarded))
	},
})
