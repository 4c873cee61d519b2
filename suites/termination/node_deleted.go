package termination

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A node that a user deletes is drained as if Karpenter had chosen it. The pods are
// evicted and run elsewhere, and the NodeClaim and the instance end. Otherwise, only the
// Node object would go, and the machine would run on.
//
// Source: finalizer karpenter.sh/termination on nodes;
// https://karpenter.sh/docs/concepts/disruption, "Manual Methods".
var _ = Suite.Add(e2e.Spec{
	Name: "drains a node that a user deletes, and ends its NodeClaim",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app := fixtures.Deployment(2).On(pool)
		launchNode(ctx, env, pool)
		env.Create(ctx, app)
		env.Await(ctx, 2, check.RunningPods(app))

		before := env.Mark()
		env.Delete(ctx, env.Await(ctx, 1, check.Nodes(pool))[0])
		env.Await(ctx, 0, check.NodeClaims(pool).Old(before))
		env.Await(ctx, 2, check.RunningPods(app).On(check.ReplacedNodes(pool, before)))

		deleted := check.AtLeast(1, check.Nodes(pool).Deleting())
		env.Expect(env.Since(before),
			check.LeadsTo(deleted, check.None(check.NodeClaims(pool).Old(before))),
			check.LeadsTo(deleted, check.AtLeast(1, check.NodeClaims(pool).In(karpenter.InstanceTerminating))),
			check.Always(check.Each(check.PodsOf(app).Old(before).Deleting(), "were evicted", isEvicted)),
			check.While(check.PodsOf(app).Old(before), check.Exactly(1, check.Nodes(pool).Old(before))))
	},
})

// isEvicted tells whether the Eviction API ended a pod, not a plain deletion (core/v1, pod
// condition DisruptionTarget).
func isEvicted(pod *unstructured.Unstructured) bool {
	why, _ := karpenter.Condition(pod, string(corev1.DisruptionTarget))
	return why.Reason == "EvictionByEvictionAPI"
}
