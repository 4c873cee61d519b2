package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A pod that is deleted while it waits for a node gets none. The scheduler leaves it alone from then
// on, so a node for it is empty, and stays as long as a finalizer keeps the pod. Controllers of jobs
// and queues keep their pods so until they have counted them.
//
// Source: https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle, "Termination of Pods"; the
// scheduler's event "skip schedule deleting pod".
var _ = Suite.Add(e2e.Spec{
	Name: "launches nothing for a pod that was deleted while it waited",
	Known: []e2e.Known{{
		Releases: ">=1.0.0 <=1.15.0", // seen in v1.14.3 and v1.15.0; the source is the same in v1.0.8
		Issue:    e2e.Finding("karpenter-pods-that-are-deleted-before-they-run"),
		Reason:   "a waiting pod counts as long as it exists",
		Breaks:   []string{"^always no NodeClaims of pool "},
	}},
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app := fixtures.Pod().On(pool).Lingering()

		before := env.Mark()
		env.Create(ctx, app)
		env.Await(ctx, 1, check.UnschedulablePods(app))
		env.Delete(ctx, app)
		env.Await(ctx, 1, check.PodsOf(app).Deleting())
		env.Create(ctx, pool)
		env.Observe(ctx, karpenter.PodsRetried)

		env.Expect(env.Since(before),
			check.Always(check.None(check.NodeClaims(pool).AmongObjects(check.PodsOf(app).Deleting()))))
	},
})
