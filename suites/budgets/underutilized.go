package budgets

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// Nodes that are too large for their pods are replaced by smaller ones, but never more
// of them at once than the budget allows. The replacement has a startup taint here that
// nobody removes, so that the node for which it came stays disrupted: the budget is used
// up, and the other node must wait.
//
// Source: designs/disruption-controls.md; spec.disruption.budgets[].nodes.
var _ = Suite.Add(e2e.Spec{
	Name:  "are never exceeded when underutilized nodes are replaced",
	Needs: []providers.Capability{providers.NodePools},
	Run: func(ctx context.Context, env *e2e.Env) {
		starting := fixtures.Key("starting")
		pool := consolidates(onDemand()).Budget("1").StartupTaint(starting, fixtures.NoSchedule)
		app, large := fixtures.Deployment(2).OnePodPerNode().On(pool), fixtures.Deployment(2).OnePodPerNode().On(pool).CPU("3")
		env.Create(ctx, pool, large)
		nodes := env.Await(ctx, 2, check.ReadyNodes(pool).With("and starting", check.Tainted(starting)))
		env.RemoveTaint(ctx, nodes[0].Name, starting)
		env.RemoveTaint(ctx, nodes[1].Name, starting)
		env.Await(ctx, 2, check.RunningPods(large))
		env.Create(ctx, app)
		env.Await(ctx, 2, check.RunningPods(app))
		env.Watch(ctx, rested)

		before, old := env.Now(), env.World()
		env.Delete(ctx, large)
		env.Await(ctx, 1, check.ReadyNodes(pool).New(old))
		env.Watch(ctx, pressed)

		env.Expect(env.Since(before),
			check.Always(check.AtMost(1, disrupting(pool))),
			check.LeadsTo(check.AtLeast(1, disrupting(pool)), check.AtLeast(1, check.ReadyNodes(pool).New(old))))
	},
})
