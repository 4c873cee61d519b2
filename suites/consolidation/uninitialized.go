package consolidation

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// A node that isn't initialized is left alone, however empty it is: what it waits for
// may take longer than a pod's life, and a node that is removed while it starts will be
// launched for the next pod again. It goes once it is initialized; that of another pool,
// which had nothing to wait for, goes before.
//
// Source: condition Consolidatable of the NodeClaim API, which needs Initialized;
// spec.template.spec.startupTaints.
var _ = Suite.Add(e2e.Spec{
	Name:  "leaves an empty node alone until it is initialized",
	Needs: []providers.Capability{providers.NodePools},
	Run: func(ctx context.Context, env *e2e.Env) {
		starting := fixtures.Key("starting")
		held, free := fixtures.NodePool().StartupTaint(starting, fixtures.NoSchedule), fixtures.NodePool()
		holding, freely := fixtures.Deployment(1).On(held), fixtures.Deployment(1).On(free)
		waiting := check.ReadyNodes(held).With("and starting", check.Tainted(starting))
		env.Create(ctx, held, free, holding, freely)
		node := env.Await(ctx, 1, waiting)[0]
		env.Await(ctx, 1, check.RunningPods(freely))

		before := env.Now()
		env.Delete(ctx, holding, freely)
		env.Watch(ctx, rested)
		env.Change(ctx, consolidates(held, fixtures.WhenEmpty), consolidates(free, fixtures.WhenEmpty))
		env.Await(ctx, 1, check.DisruptedNodes(free))
		env.Watch(ctx, decided)
		env.Patch(ctx, karpenter.Nodes, "", node.Name, `{"spec":{"taints":null}}`)
		env.Await(ctx, 0, check.Nodes(held))

		env.Expect(env.Since(before),
			check.Always(check.When(check.AtLeast(1, waiting),
				check.AllOf(check.None(check.DisruptedNodes(held)), check.None(consolidatable(held))))),
			check.LeadsTo(check.AtLeast(1, check.DisruptedNodes(free)), check.None(check.Nodes(free))))
	},
})
