package repair

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Operators can have the node repair of before Karpenter 1.15. It doesn't wait for an unhealthy
// node's pods, whatever its grace period, and knows no veto. Its node goes at once when its
// toleration is over.
//
// Source: setting LEGACY_NODE_REPAIR; Karpenter: pkg/operator/options/options.go,
// pkg/controllers/node/legacyrepair.
var _ = Suite.Add(e2e.Spec{
	Name:  "neither waits for pods nor for a veto if it is told to repair nodes as it did before",
	Since: voluntary(),
	Run: func(ctx context.Context, env *e2e.Env) {
		env.Configure(ctx, e2e.Settings{karpenter.LegacyNodeRepair: "true"})
		pool := fixtures.NodePool().TerminationGracePeriod("1h").Annotation(doNotRepair, "true")
		app := deployment(1, pool).Annotate(karpenter.DoNotDisruptAnnotation, "true")
		nodes := env.Launch(ctx, 1, pool, app)

		before := env.Mark()
		env.MakeUnhealthy(ctx, nodes...)
		tolerated := env.Observe(ctx, env.Toleration()-slack)
		env.Await(ctx, 0, check.Nodes(pool).Old(before))
		env.Await(ctx, 1, check.RunningPods(app).New(before))

		env.Expect(tolerated, sparesAll(env, pool))
		env.Expect(env.Since(before), check.Within(env.Toleration()+soon, unhealthyNodesGo(env, pool)))
	},
})
