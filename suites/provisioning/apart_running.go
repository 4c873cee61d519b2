package provisioning

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// encounter describes two workloads, one of which excludes the other.
type encounter struct {
	how      string
	excludes func(running, late *fixtures.Workload)
}

// A pod gets its own node if it excludes the running pods, or if they exclude it. Room on
// their node does not change that. The second case is easily forgotten, because the pod
// does not declare it, and here it is the second rule of those who do. There are two of them, and
// each keeps it off. Karpenter never nominates the pod for a node where the scheduler does not let
// it run.
//
// Source: podAntiAffinity of the Pod API, which is symmetric; event Nominated;
// https://karpenter.sh/docs/concepts/scheduling, "Pod affinity/anti-affinity".
var _ = e2e.Table(Suite, map[string]encounter{
	"excludes": {"running ones that it excludes", lateExcludes},
	"excluded": {"running ones that exclude it", runningExcludes},
}, func(e encounter) e2e.Spec {
	return e2e.Spec{
		Name: "keeps a pod apart from " + e.how,
		Run: func(ctx context.Context, env *e2e.Env) {
			pool := fixtures.NodePool()
			running, late := fixtures.Deployment(2).On(pool).OnePodPerNode(), fixtures.Deployment(1).On(pool)
			e.excludes(running, late)

			before := env.Mark()
			env.Create(ctx, pool, running)
			env.Await(ctx, 2, check.RunningPods(running))
			nodes := env.Await(ctx, 2, check.ReadyNodes(pool))
			env.Create(ctx, late)
			env.Await(ctx, 1, check.RunningPods(late))

			env.Expect(env.Since(before), check.Always(check.AtMost(3, check.NodeClaims(pool))),
				neverNominated(late, nodes[0]), neverNominated(late, nodes[1]))
		},
	}
})

// lateExcludes makes the later pods exclude the running ones by host.
func lateExcludes(running, late *fixtures.Workload) {
	late.PodAntiAffinity(running, corev1.LabelHostname)
}

// runningExcludes makes the running pods exclude the later ones by host.
func runningExcludes(running, late *fixtures.Workload) {
	running.PodAntiAffinity(late, corev1.LabelHostname)
}
