package provisioning

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Pods that want one host port get a node each, also if daemons run on some instance types
// only. A node for both would leave one of them waiting.
//
// Source: hostPort of the Pod API;
// https://github.com/kubernetes-sigs/karpenter/issues/715.
var _ = Suite.Add(e2e.Spec{
	Name: "gives pods with one host port a node each beside daemons of some instance types",
	Run: func(ctx context.Context, env *e2e.Env) {
		first, pool := fixtures.NodePool(), fixtures.NodePool()
		env.Create(ctx, first, fixtures.Deployment(1).On(first).CPU("300m"))
		usual := karpenter.Label(env.Await(ctx, 1, check.ReadyNodes(first))[0].Unstructured(), corev1.LabelInstanceTypeStable)
		daemon := fixtures.DaemonSet().On(pool).Require(instanceType, fixtures.In, usual)
		app := fixtures.Deployment(2).On(pool).CPU("300m").HostPort(port)

		before := env.Mark()
		env.Create(ctx, pool, daemon)
		env.Create(ctx, app)
		env.Await(ctx, 2, check.RunningPods(app))

		env.Expect(env.Since(before), check.Always(check.AtMost(2, check.NodeClaims(pool))),
			check.Always(check.None(check.NodeClaims(pool).With("for both", check.RequestingCPUs("600m")))))
	},
})
