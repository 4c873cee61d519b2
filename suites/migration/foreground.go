package migration

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
)

// A pool that is deleted with `--cascade=foreground` is there until the last of its
// nodes has been drained and is gone, and its pods run in the pool that takes its
// place: when the command returns, nothing of the old pool is left to be paid for.
//
// Source: designs/v1beta1-api.md of Karpenter v0.32, "Forced Deletion";
// https://karpenter.sh/docs/concepts/disruption, "Manual Methods".
var _ = Suite.Add(e2e.Spec{
	Name:       "drains all nodes of a pool that is deleted in the foreground",
	Foreground: true,
	Run: func(ctx context.Context, env *e2e.Env) {
		app := fleet()
		from, to := joined(app), joined(app)
		settle(ctx, env, from, app)
		env.Create(ctx, to)

		before := env.Mark()
		env.DeleteInForeground(ctx, from)
		env.Await(ctx, 0, check.Nodes(from))
		env.Await(ctx, pods, check.RunningPods(app).On(check.ReadyNodes(to)))
		env.Await(ctx, 0, check.The(from))

		leaving := check.AtLeast(1, check.Nodes(from).Deleting())
		env.Expect(env.Since(before),
			check.LeadsTo(leaving, check.AllOf(arrived(app, to), check.None(check.Nodes(from)))),
			check.Always(check.When(leaving, check.Exactly(1, check.The(from)))),
			check.Always(check.Each(check.PodsOf(app).Deleting(), "were evicted",
				check.True(string(corev1.DisruptionTarget)))))
	},
})
