package migration

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
)

// A NodePool deleted with `--cascade=foreground` stays until its last node is drained and
// gone. Its pods run in the NodePool that replaces it. When the command returns, users
// pay for nothing of the old NodePool.
//
// Source: designs/v1beta1-api.md of Karpenter v0.32, "Forced Deletion";
// https://karpenter.sh/docs/concepts/disruption, "Manual Methods".
var _ = Suite.Add(e2e.Spec{
	Name:       "drains all nodes of a pool that is deleted in the foreground",
	Foreground: true,
	Run: func(ctx context.Context, env *e2e.Env) {
		app := workload()
		from, to := poolFor(app), poolFor(app)
		runOn(ctx, env, from, app)
		env.Create(ctx, to)

		before := env.Mark()
		env.DeleteInForeground(ctx, from)
		env.Await(ctx, 0, check.Nodes(from))
		env.Await(ctx, pods, check.RunningPods(app).On(check.ReadyNodes(to)))
		env.Await(ctx, 0, check.The(from))

		leaving := check.AtLeast(1, check.Nodes(from).Deleting())
		env.Expect(env.Since(before),
			check.LeadsTo(leaving, check.AllOf(allPodsOn(app, to), check.None(check.Nodes(from)))),
			check.Always(check.When(leaving, check.Exactly(1, check.The(from)))),
			check.Always(check.Each(check.PodsOf(app).Deleting(), "were evicted",
				check.True(string(corev1.DisruptionTarget)))))
	},
})
