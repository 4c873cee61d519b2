package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A pod doesn't wait for one that it excludes and that takes long to end: it gets a node of its own.
// A pod may have hours to end, and until then the scheduler keeps the other one off its node. A
// rollout of pods that exclude each other would stand still as long.
//
// Source: https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle, "Termination of Pods";
// podAntiAffinity of the Pod API; https://karpenter.sh/docs/concepts/scheduling.
var _ = e2e.Table(Suite, map[string]ending{
	"excludes": {
		encounter{"one that it excludes", lateExcludes},
		[]e2e.Known{{
			Releases: ">=1.0.0 <=1.15.0", // seen in v1.14.3 and v1.15.0; the source is the same in v1.0.8
			Issue:    e2e.Finding("karpenter-pods-apart-from-pods-that-end-slowly"),
			Reason:   "pods that are being deleted are left out where a pod excludes them",
			Breaks:   []string{"^waited for 1 pod", "pods that wait fit on no node that could be launched"},
		}},
	},
	"excluded": {encounter{"one that excludes it", runningExcludes}, nil},
}, func(e ending) e2e.Spec {
	return e2e.Spec{
		Name:  "launches a node for a pod beside " + e.how + " and that takes long to end",
		Known: e.known,
		Run: func(ctx context.Context, env *e2e.Env) {
			pool := fixtures.NodePool()
			running, late := fixtures.Deployment(1).On(pool).Lingering(), fixtures.Deployment(1).On(pool)
			e.excludes(running, late)
			node := env.Launch(ctx, 1, pool, running)[0]
			env.Delete(ctx, running)
			env.Await(ctx, 1, check.PodsOf(running).Deleting())

			before := env.Mark()
			env.Create(ctx, late)
			env.Await(ctx, 1, check.RunningPods(late))

			env.Expect(env.Since(before), check.Always(check.AtMost(1, check.NodeClaims(pool).New(before))),
				neverNominated(late, node),
				check.LeadsTo(check.AtLeast(1, check.PodsOf(running).Deleting()), check.AtLeast(1, check.RunningPods(late))))
		},
	}
})

// ending is an encounter with a pod that is being deleted.
type ending struct {
	encounter
	known []e2e.Known
}
