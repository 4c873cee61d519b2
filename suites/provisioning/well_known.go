package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Nodes have the well-known labels from registration on, and the label for initialized
// nodes once they are. Users spread pods over zones, bind them to architectures, keep
// them off spot and split costs by them.
//
// Source: https://karpenter.sh/docs/concepts/nodepools, "Well-Known Labels";
// Karpenter: pkg/apis/v1/labels.go.
var _ = Suite.Add(e2e.Spec{
	Name: "puts the well-known labels on its nodes",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app := fixtures.Deployment(1).On(pool)

		before := env.Mark()
		env.Create(ctx, pool, app)
		env.Await(ctx, 1, check.RunningPods(app))
		env.Await(ctx, 1, check.InitializedNodes(pool))

		env.Expect(env.Since(before), check.WellKnownLabels(check.RegisteredNodes(pool))...)
	},
})
