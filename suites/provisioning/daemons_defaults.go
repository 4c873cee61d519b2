package provisioning

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter counts DaemonSet pods without requests with the default limit or the default
// request of a LimitRange. It does so for nodes that come after the first such pod.
// Namespace defaults are meant for DaemonSets too, and their pods must fit.
//
// Source: default and defaultRequest of the LimitRange API; Karpenter's regression
// suite, "should account for LimitRange Default on daemonSet pods for resources"
// and "should account for LimitRange DefaultRequest ...".
var _ = Suite.Add(e2e.Spec{
	Name:   "counts daemons with the default requests of their namespace",
	Within: 3 * time.Minute,
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		daemon := fixtures.DaemonSet().On(pool).WithoutRequests()
		first := fixtures.Deployment(1).On(pool).Memory("100Mi").HostPort(port)
		second := fixtures.Deployment(1).On(pool).Memory("100Mi").HostPort(port)

		env.Create(ctx, fixtures.DefaultLimit("memory", "2Gi"), fixtures.DefaultRequest("cpu", "2"), pool, daemon)
		env.Create(ctx, first)
		env.Await(ctx, 1, check.RunningPods(first))
		env.Await(ctx, 1, check.PodsOf(daemon))
		env.Observe(ctx, karpenter.DaemonPoll+karpenter.Settled) // until Karpenter has looked at the first one
		before := env.Mark()
		env.Create(ctx, second)
		env.Await(ctx, 1, check.RunningPods(second))

		nodeClaims := check.NodeClaims(pool).New(before)
		env.Expect(env.Since(before),
			check.Always(check.AtMost(1, nodeClaims)),
			check.Always(requestsBetween(nodeClaims, corev1.ResourceCPU, "2", "3")),
			check.Always(requestsBetween(nodeClaims, corev1.ResourceMemory, "2Gi", "3Gi")))
	},
})
