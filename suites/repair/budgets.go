package repair

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Node repair respects disruption budgets, as every voluntary disruption does. A fault
// that wrongly reports many nodes as unhealthy must not remove them all. Here a pool that
// allows no disruption keeps its unhealthy nodes, and another pool's are replaced.
//
// Source: spec.disruption.budgets of the NodePool API;
// designs/making-node-repair-voluntary.md; Karpenter's regression suite, "respects
// disruption budgets".
var _ = Suite.Add(e2e.Spec{
	Name:  "respects budgets",
	Since: voluntary(),
	Run: func(ctx context.Context, env *e2e.Env) {
		held, other := fixtures.NodePool().Budget("0", fixtures.Unhealthy), fixtures.NodePool()
		kept := env.Launch(ctx, 1, held, deployment(1, held))
		gone := env.Launch(ctx, 1, other, deployment(1, other))

		before := env.Mark()
		env.MakeUnhealthy(ctx, kept[0], gone[0])
		env.Await(ctx, 0, check.Nodes(other).Old(before))
		waited, lifted := env.Since(before), env.Mark()
		env.Change(ctx, held.NoBudgets())
		env.Await(ctx, 0, check.Nodes(held).Old(before))

		env.Expect(waited, sparesAll(env, held), unhealthyNodesGo(env, other))
		env.Expect(env.Since(lifted), repairedOnceDisrupted(env, held))
	},
})
