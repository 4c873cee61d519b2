package provisioning

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Pods that must share a node wait if no room is left there: only the first of all may choose its
// node. A second node could never run any of them, and would be replaced by the next one. Here
// they are in two namespaces, and the host port that they all use is taken.
//
// Source: podAffinity of the Pod API, namespaces; kube-scheduler:
// pkg/scheduler/framework/plugins/interpodaffinity, satisfyPodAffinity.
var _ = Suite.Add(e2e.Spec{
	Name: "launches nothing for a pod that must be beside pods like itself and finds no room",
	Run: func(ctx context.Context, env *e2e.Env) {
		group, pool := fixtures.Key("group"), fixtures.NodePool()
		one, other := fixtures.Namespace(), fixtures.Namespace()
		together := fixtures.PodTerm(corev1.LabelHostname).Of(group, pool.GetName()).InNamespace(one).InNamespace(other)
		first := fixtures.Deployment(1).On(pool).HostPort(port).Label(group, pool.GetName()).Near(together).In(one)
		app := fixtures.Deployment(1).On(pool).HostPort(port).Label(group, pool.GetName()).Near(together).In(other)
		env.Create(ctx, one, other, pool, first)
		env.Await(ctx, 1, check.RunningPods(first))

		before := env.Mark()
		env.Create(ctx, app)
		env.AwaitAtLeast(ctx, 1, decisions(app, pool, before))
		env.Observe(ctx, karpenter.PodsRetried)

		env.Expect(env.Since(before), check.Always(check.AtMost(1, check.NodeClaims(pool))),
			check.EndsWith(app, check.None(check.NodeClaims(pool).New(before))))
	},
})
