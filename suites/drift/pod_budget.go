package drift

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Pods move to the replacement no faster than their PodDisruptionBudget allows, even if
// all run on the drifted node. This keeps a quorum or a service alive while its nodes are
// replaced.
//
// Source: policy/v1 PodDisruptionBudget;
// https://karpenter.sh/docs/concepts/disruption, "Termination Controller".
var _ = Suite.Add(e2e.Spec{
	Name: "evicts no more pods at a time than a PodDisruptionBudget allows",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app := fixtures.Deployment(3).On(pool)
		env.Create(ctx, pool, app.MinAvailable(2), app)
		env.Await(ctx, 3, check.RunningPods(app))
		env.Await(ctx, 1, check.ReadyNodes(pool))

		before := env.Mark()
		env.Change(ctx, pool.NewTemplate())
		env.Await(ctx, 3, check.RunningPods(app).On(check.ReplacedNodes(pool, before)))
		env.Await(ctx, 0, check.Nodes(pool).Old(before))

		env.Expect(env.Since(before), check.ActsOnDrift(pool),
			check.While(check.PodsOf(app), check.AtLeast(2, check.RunningPods(app))))
	},
})
