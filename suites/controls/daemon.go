package controls

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter doesn't remove an empty node while a daemon on it must not be disrupted. A
// backup or a collector that runs on every node may have its own work to finish. Here
// Karpenter removes an empty node with another daemon.
//
// Source: annotation karpenter.sh/do-not-disrupt; pkg/controllers/state/statenode.go,
// ValidatePodsDisruptable.
var _ = Suite.Add(e2e.Spec{
	Name: "keep an empty node while a daemon on it must not be disrupted",
	Run: func(ctx context.Context, env *e2e.Env) {
		guarded := fixtures.NodePool().Consolidate(fixtures.WhenEmpty)
		free := fixtures.NodePool().Consolidate(fixtures.WhenEmpty)
		busy := fixtures.DaemonSet().On(guarded).Annotate(karpenter.DoNotDisruptAnnotation, "true")
		first, second := fixtures.Deployment(1).On(guarded), fixtures.Deployment(1).On(free)
		env.Create(ctx, busy)
		env.Launch(ctx, 1, guarded, first)
		env.Create(ctx, fixtures.DaemonSet().On(free))
		env.Launch(ctx, 1, free, second)
		daemon := env.Await(ctx, 1, check.RunningPods(busy))[0]

		before := env.Mark()
		env.Change(ctx, first.Replicas(0))
		env.Await(ctx, 0, check.PodsOf(first))
		env.Change(ctx, second.Replicas(0))
		env.Await(ctx, 0, check.Nodes(free))
		env.Expect(env.Since(before), keepsEmptyNodes(guarded, first),
			check.LeadsTo(check.None(check.PodsOf(second)), check.None(check.Nodes(free))))

		env.RemoveAnnotation(ctx, daemon, karpenter.DoNotDisruptAnnotation)
		env.Await(ctx, 0, check.Nodes(guarded))
	},
})
