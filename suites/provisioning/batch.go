package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter looks at pods that arrive together as one batch, so that ten small pods share
// a node. Nodes cost money, and each node carries the overhead of its DaemonSets.
//
// Source: settings batch-idle-duration and batch-max-duration (1 s and 10 s by
// default), https://karpenter.sh/docs/concepts/scheduling.
var _ = Suite.Add(e2e.Spec{
	Name: "packs a batch of pods on one node",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app := fixtures.Deployment(10).On(pool).CPU("100m")

		before := env.Mark()
		env.Create(ctx, pool, app)
		env.Await(ctx, 10, check.RunningPods(app))

		env.Expect(env.Since(before), check.Always(check.AtMost(1, check.NodeClaims(pool))))
	},
})
