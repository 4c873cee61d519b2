package conversion

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
)

// A v1beta1 pool that is deleted with `--cascade=foreground` stays until its last node is drained and
// gone, and its pods run on its v1 successor. When the command returns, users pay for nothing of the
// old pool.
//
// Source: designs/v1beta1-api.md of Karpenter v0.32, "Forced Deletion".
var _ = Suite.Add(e2e.Spec{
	Name:       "moves pods to a v1 successor when a v1beta1 pool is deleted in the foreground",
	Foreground: true,
	Run: func(ctx context.Context, env *e2e.Env) {
		app, from, to := fleet()
		env.Launch(ctx, pods, from, app)
		env.Create(ctx, to)

		before := env.Mark()
		env.DeleteInForeground(ctx, from)
		env.Await(ctx, 0, check.Nodes(from))
		env.Await(ctx, pods, check.RunningPods(app).On(check.ReadyNodes(to)))
		env.Await(ctx, 0, check.The(from))

		leaving := check.AtLeast(1, check.Nodes(from).Deleting())
		env.Expect(env.Since(before),
			check.LeadsTo(leaving, movesAll(app, from, to)),
			check.Always(check.When(leaving, check.Exactly(1, check.The(from)))))
	},
})
