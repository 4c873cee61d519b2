package provisioning

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter adds the overhead of a pod's runtime, such as a virtual machine, to what its
// containers request. Otherwise, the node is too small, and the pod stays pending
// forever.
//
// Source: overhead of the RuntimeClass API;
// https://kubernetes.io/docs/concepts/scheduling-eviction/pod-overhead.
var _ = Suite.Add(e2e.Spec{
	Name: "counts the overhead of a pod's runtime",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool, runtime := fixtures.NodePool(), fixtures.Runtime("2")
		app := fixtures.Deployment(1).On(pool).CPU("1").RunBy(runtime)

		before := env.Mark()
		env.Create(ctx, runtime, pool, app)
		env.Await(ctx, 1, check.RunningPods(app))

		env.Expect(env.Since(before),
			check.Always(check.AtMost(1, check.NodeClaims(pool))),
			check.Always(requestsBetween(check.NodeClaims(pool), corev1.ResourceCPU, "3", "4")))
	},
})
