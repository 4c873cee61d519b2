package settings

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// A cluster whose scheduler spreads pods by default counts only pods that the whole selector of
// their workload selects, whether it consists of labels or of expressions. Here pods that have one
// of the two labels crowd a zone, and the new pods are spread as if these weren't there. Teams
// share a label such as that of their application.
//
// The scheduler of this cluster has no such rule, so that all pods run anywhere.
//
// Source: https://karpenter.sh/docs/reference/settings, SCHEDULER_CONFIG; kube-scheduler:
// pkg/scheduler/framework/plugins/helper/spread.go, DefaultSelector.
var _ = e2e.Table(Suite, map[string]selecting{
	"labels":      {"labels", (*fixtures.Workload).SelectedByLabels},
	"expressions": {"expressions", (*fixtures.Workload).SelectedByExpressions},
}, func(row selecting) e2e.Spec {
	return e2e.Spec{
		Name:  "spreads pods by default and counts those that all " + row.by + " of their workload select",
		Since: e2e.Since{Karpenter: "1.15"},
		Needs: []providers.Capability{providers.NodePools, providers.Zones},
		Run: func(ctx context.Context, env *e2e.Env) {
			here, there := env.TwoZones(ctx, fixtures.NodePool())
			tier, pool := fixtures.Key("tier"), fixtures.NodePool()
			sameWeb, sameTier := neighbours(pool, here).Label(web, "one"), neighbours(pool, here).Label(tier, "front")
			env.Create(ctx, pool.Require(corev1.LabelTopologyZone, fixtures.In, here, there), sameWeb, sameTier)
			env.Await(ctx, 2, check.RunningPods(sameWeb))
			env.Await(ctx, 2, check.RunningPods(sameTier))
			env.Configure(ctx, e2e.Settings{karpenter.SchedulerConfig: spreadByDefault(corev1.LabelTopologyZone)})
			app := row.through(fixtures.ReplicaSet(2).On(pool).HostPort(port), map[string]string{web: "one", tier: "front"})

			before := env.Mark()
			env.Create(ctx, app)
			env.Await(ctx, 2, check.ReadyNodes(pool).New(before))

			env.Expect(env.Since(before),
				check.Always(check.AtMost(1, zonal(pool, here).New(before))),
				check.Always(check.AtMost(1, zonal(pool, there).New(before))),
				check.Always(check.AtMost(2, check.NodeClaims(pool).New(before))))
		},
	}
})

// selecting is how a workload selects its pods.
type selecting struct {
	by      string
	through func(app *fixtures.Workload, labels map[string]string) *fixtures.Workload
}

// neighbours returns two pods in a zone, with a node each that has no room for pods with that port.
func neighbours(pool *fixtures.Pool, zone string) *fixtures.Workload {
	return fixtures.Deployment(2).On(pool).HostPort(port).Select(corev1.LabelTopologyZone, zone)
}
