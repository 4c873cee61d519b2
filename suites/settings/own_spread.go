package settings

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A pod that says how it is spread isn't spread by default as well. Here the default can't be
// met by any node.
//
// Source: https://kubernetes.io/docs/concepts/scheduling-eviction/topology-spread-constraints,
// "Cluster-level default constraints": "The Pod doesn't define any constraints".
var _ = Suite.Add(e2e.Spec{
	Name:  "spreads pods by default only if they don't say how they are spread",
	Since: e2e.Since{Karpenter: "1.15"},
	Breaks: []e2e.Breach{{
		Invariant: "pods that wait fit on no node that could be launched",
		Why:       "the cluster's scheduler hasn't the rule that Karpenter is told of, and would place the pod",
	}},
	Run: func(ctx context.Context, env *e2e.Env) {
		env.Configure(ctx, e2e.Settings{karpenter.SchedulerConfig: spreadByDefault(fixtures.Key("absent"))})
		silent, pool := fixtures.NodePool(), fixtures.NodePool()
		saying := fixtures.Deployment(1).On(pool)
		saying.Spread(fixtures.TopologySpread(corev1.LabelHostname))
		app := fixtures.Deployment(1).On(silent)

		before := env.Mark()
		env.Create(ctx, silent, pool, app, saying)
		env.Await(ctx, 1, check.RunningPods(saying))
		env.Observe(ctx, karpenter.PodsRetried)

		env.Expect(env.Since(before),
			check.Always(check.None(check.NodeClaims(silent).AmongObjects(check.PodsOf(app)))),
			check.LeadsTo(check.AtLeast(1, check.UnschedulablePods(saying)), check.AtLeast(1, check.NodeClaims(pool))))
	},
})
