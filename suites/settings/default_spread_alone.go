package settings

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A pod of no workload and no Service is spread by no default: there is nothing that it could be
// spread with. Here the default can't be met by any node, and the pod gets its node all the same.
// Jobs that somebody starts by hand mustn't wait for ever.
//
// Source: https://kubernetes.io/docs/concepts/scheduling-eviction/topology-spread-constraints,
// "Cluster-level default constraints"; kube-scheduler:
// pkg/scheduler/framework/plugins/podtopologyspread, buildDefaultConstraints.
var _ = Suite.Add(e2e.Spec{
	Name:  "spreads no pod by default that belongs to no workload and no Service",
	Since: e2e.Since{Karpenter: "1.15"},
	Run: func(ctx context.Context, env *e2e.Env) {
		env.Configure(ctx, e2e.Settings{karpenter.SchedulerConfig: spreadByDefault(fixtures.Key("absent"))})
		pool := fixtures.NodePool()
		alone := fixtures.Pod().On(pool)

		before := env.Mark()
		env.Create(ctx, pool, alone)
		env.Await(ctx, 1, check.RunningPods(alone))

		env.Expect(env.Since(before),
			check.LeadsTo(check.AtLeast(1, check.UnschedulablePods(alone)), check.AtLeast(1, check.NodeClaims(pool))))
	},
})
