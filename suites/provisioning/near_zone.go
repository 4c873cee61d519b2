package provisioning

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// meeting is a way in which pods join other pods, and how many of these already run.
type meeting struct {
	how     string
	running int
}

// Pods with pod affinity for the zone of others get nodes there. The others may be on any
// pool's nodes, and may run already or come with them. Traffic between zones is slow and
// costs money.
//
// Source: podAffinity of the Pod API; https://karpenter.sh/docs/concepts/scheduling,
// "Pod affinity/anti-affinity".
var _ = e2e.Table(Suite, map[string]meeting{
	"running":  {"of running pods", 1},
	"together": {"of pods that are created with them", 0},
}, func(m meeting) e2e.Spec {
	return e2e.Spec{
		Name: "puts pods that must be near others into the zone " + m.how,
		Run: func(ctx context.Context, env *e2e.Env) {
			zone := corev1.LabelTopologyZone
			there, here := fixtures.NodePool(), fixtures.NodePool()
			leader := fixtures.Deployment(1).On(there)
			followers := fixtures.Deployment(3).On(here).OnePodPerNode().PodAffinity(leader, zone)

			before := env.Mark()
			env.Create(ctx, there, here, leader)
			env.Await(ctx, m.running, check.RunningPods(leader))
			env.Create(ctx, followers)
			where := karpenter.Label(env.Await(ctx, 1, check.ReadyNodes(there))[0].Unstructured(), zone)
			env.Await(ctx, 3, check.RunningPods(followers))

			env.Expect(env.Since(before),
				check.Always(check.AtMost(3, check.NodeClaims(here))),
				check.Always(check.Each(check.NodeClaims(here), "require that zone", check.Requiring(zone, where))))
		},
	}
})
