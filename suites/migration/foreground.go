package migration

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// A pool that is deleted with `--cascade=foreground` is there until the last of its
// nodes has been drained and is gone, and its pods run in the pool that takes its
// place: when the command returns, nothing of the old pool is left to be paid for.
//
// Source: designs/v1beta1-api.md of Karpenter v0.32, "Forced Deletion";
// https://karpenter.sh/docs/concepts/disruption, "Manual Methods".
var _ = Suite.Add(e2e.Spec{
	Name:       "drains all nodes of a pool that is deleted in the foreground",
	Needs:      []providers.Capability{providers.NodePools},
	Foreground: true,
	Run: func(ctx context.Context, env *e2e.Env) {
		app := fleet()
		from, to := joined(app), joined(app)
		settle(ctx, env, from, app)
		env.Create(ctx, to)

		before := env.Now()
		env.DeleteInForeground(ctx, from)
		env.Await(ctx, 0, check.Nodes(from))
		env.Await(ctx, pods, check.RunningPods(app).On(check.ReadyNodes(to)))
		env.Await(ctx, 0, called(from))

		leaving := check.AtLeast(1, going(from))
		env.Expect(env.Since(before),
			check.LeadsTo(leaving, check.AllOf(arrived(app, to), check.None(check.Nodes(from)))),
			check.Always(check.When(leaving, check.Exactly(1, called(from)))),
			check.Always(check.Each(check.PodsOf(app).With("that were told to end", karpenter.Deleting), "were evicted",
				check.True(string(corev1.DisruptionTarget)))))
	},
})

// called counts the pool itself, if it is there.
func called(pool *fixtures.Pool) check.Count {
	return check.Where("pools called "+pool.GetName(), karpenter.NodePools, func(o *unstructured.Unstructured) bool {
		return o.GetName() == pool.GetName()
	})
}
