package repair

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// The node repair of before Karpenter 1.15 brings the deadline of an unhealthy node forward, also if
// the node drains already. Its pods may have a long time to end, but nobody knows what still works
// there. A protected pod that Karpenter waits for is told to end then, and runs elsewhere.
//
// Source: setting LEGACY_NODE_REPAIR; designs/node-repair.md; Karpenter:
// pkg/controllers/node/legacyrepair, annotateTerminationGracePeriod;
// pkg/controllers/node/termination/terminator/eviction.go, Add.
var _ = Suite.Add(e2e.Spec{
	Name:  "ends a drain whose node becomes unhealthy if it is told to repair nodes as it did before",
	Since: voluntary(),
	Run: func(ctx context.Context, env *e2e.Env) {
		env.Configure(ctx, e2e.Settings{karpenter.LegacyNodeRepair: "true"})
		pool := fixtures.NodePool().TerminationGracePeriod("1h")
		app := deployment(1, pool).Annotate(karpenter.DoNotDisruptAnnotation, "true")
		nodes := env.Launch(ctx, 1, pool, app)

		before := env.Mark()
		env.Delete(ctx, env.Await(ctx, 1, check.InitializedNodeClaims(pool))[0])
		env.Await(ctx, 1, check.Nodes(pool).Deleting())
		env.Observe(ctx, karpenter.DrainPolled)
		env.MakeUnhealthy(ctx, nodes...)
		draining := unhealthyNodes(env, pool).Deleting()
		tolerated := env.Observe(ctx, env.Toleration()-slack)
		env.Await(ctx, 0, check.Nodes(pool).Old(before))
		env.Await(ctx, 1, check.RunningPods(app).New(before))

		env.Expect(tolerated, check.While(draining, check.Exactly(1, check.RunningPods(app).Old(before))))
		env.Expect(env.Since(before), check.Within(env.Toleration()+soon, allGo(draining)))
	},
})
