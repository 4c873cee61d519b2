package provisioning

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Two pods of one batch get different nodes if the larger or the smaller pod excludes the
// other. Karpenter looks at the larger pod first. A mistake leaves a pod pending beside a
// node that was made large enough for both.
//
// Source: podAntiAffinity of the Pod API, which is symmetric;
// https://karpenter.sh/docs/concepts/scheduling, "Pod affinity/anti-affinity".
var _ = e2e.Table(Suite, map[string]encounter{
	"by-larger": {"the larger one excludes the smaller one", func(larger, smaller *fixtures.Workload) {
		larger.OnePodPerNode().PodAntiAffinity(smaller, corev1.LabelHostname)
	}},
	"by-smaller": {"the smaller one excludes the larger one", func(larger, smaller *fixtures.Workload) {
		smaller.PodAntiAffinity(larger, corev1.LabelHostname)
	}},
}, func(e encounter) e2e.Spec {
	return e2e.Spec{
		Name: "gives two pods of a batch a node each if " + e.how,
		Run: func(ctx context.Context, env *e2e.Env) {
			pool := fixtures.NodePool()
			larger, smaller := fixtures.Deployment(1).On(pool).CPU("1200m"), fixtures.Deployment(1).On(pool).CPU("1")
			e.excludes(larger, smaller)

			before := env.Mark()
			env.Create(ctx, pool, larger, smaller)
			env.Await(ctx, 1, check.RunningPods(larger))
			env.Await(ctx, 1, check.RunningPods(smaller))

			env.Expect(env.Since(before), check.Always(check.AtMost(2, check.NodeClaims(pool))),
				check.Always(check.None(check.NodeClaims(pool).With("for both", check.RequestingCPUs("2")))))
		},
	}
})
