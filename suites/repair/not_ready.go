package repair

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// An unhealthy node that isn't ready is replaced within a budget of one. Nodes that aren't ready
// take up the budgets of other disruptions. If they took up that of repair, a broken node would
// be in its own way.
//
// Source: designs/making-node-repair-voluntary.md; Karpenter: pkg/controllers/disruption/helpers.go,
// NodePoolStatsFromNodes.
var _ = Suite.Add(e2e.Spec{
	Name:  "replaces an unhealthy node that isn't ready, within a budget of one",
	Since: voluntary(),
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().Budget("1")
		app := deployment(2, pool).OnePodPerNode()
		nodes := env.Launch(ctx, 2, pool, app)

		before := env.Mark()
		env.Patch(ctx, nodes[0], fixtures.NoKubelet)
		env.PatchStatus(ctx, nodes[0], fixtures.NotReady(time.Now()))
		env.MakeUnhealthy(ctx, nodes[0])
		env.Await(ctx, 1, check.Nodes(pool).Old(before))
		env.Await(ctx, 2, check.RunningPods(app))

		env.Expect(env.Since(before), check.Within(env.Toleration()+soon, unhealthyNodesGo(env, pool)),
			check.Always(check.AtLeast(1, check.ReadyNodes(pool).Old(before))))
	},
})
