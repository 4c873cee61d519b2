package settings

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// With the preference policy Ignore, Karpenter still plans for what pods require. A pod that
// must be apart from another gets a node of its own, also if only the other one says so.
//
// Source: https://karpenter.sh/docs/reference/settings, PREFERENCE_POLICY; podAntiAffinity
// of the Pod API, which is symmetric.
var _ = Suite.Add(e2e.Spec{
	Name:  "gives pods that must be apart a node each if preferences are ignored",
	Since: e2e.Since{Karpenter: "1.5"},
	Run: func(ctx context.Context, env *e2e.Env) {
		env.Configure(ctx, e2e.Settings{karpenter.PreferencePolicy: "Ignore"})
		pool := fixtures.NodePool()
		larger, smaller := fixtures.Deployment(1).On(pool).CPU("1200m"), fixtures.Deployment(1).On(pool).CPU("1")

		before := env.Mark()
		env.Create(ctx, pool, larger.PodAntiAffinity(smaller, corev1.LabelHostname), smaller)
		env.Await(ctx, 1, check.RunningPods(larger))
		env.Await(ctx, 1, check.RunningPods(smaller))

		env.Expect(env.Since(before), check.Always(check.AtMost(2, check.NodeClaims(pool))),
			check.Always(check.None(check.NodeClaims(pool).With("for both", check.RequestingCPUs("2")))))
	},
})
