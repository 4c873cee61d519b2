package provisioning

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// If no node could ever run a pod, Karpenter names the reason in an event and launches
// nothing for the pod. A useless node costs money, and without an event users search for
// an afternoon. Another pod still gets its node.
//
// Source: https://karpenter.sh/docs/troubleshooting, "Pods pending"; event
// FailedScheduling.
var _ = e2e.Table(Suite, map[string]unsatisfiable{
	"too-large": {"is too large for any node", "cpu", func(app *fixtures.Workload) { app.CPU("100k") }},
	"label": {"selects a label that no node has", nowhere, func(app *fixtures.Workload) {
		app.Select(nowhere, "yes")
	}},
	"resource": {"wants an unknown resource", nowhere, func(app *fixtures.Workload) {
		app.Request(nowhere, "1").Limit(nowhere, "1")
	}},
	"storage": {"wants more storage than any node has", "ephemeral-storage", func(app *fixtures.Workload) {
		app.Request("ephemeral-storage", "1Ei")
	}},
	"instance-type": {"wants an unknown instance type", corev1.LabelInstanceTypeStable, func(app *fixtures.Workload) {
		app.Select(corev1.LabelInstanceTypeStable, "none")
	}},
	"zone": {"wants an unknown zone", zone, func(app *fixtures.Workload) { app.Select(zone, "nowhere") }},
	"volume": {"wants an unknown volume", "disk-", func(app *fixtures.Workload) {
		app.Mount(fixtures.BoundZonalVolume("nowhere"))
	}},
	"taint": {"is kept off by a taint", team, func(app *fixtures.Workload) { app.Intolerant() }},
}, func(row unsatisfiable) e2e.Spec {
	return e2e.Spec{
		Name: "reports a pod that " + row.how + ", and launches nothing for it",
		Run: func(ctx context.Context, env *e2e.Env) {
			pool := fixtures.NodePool().Taint(team, fixtures.NoSchedule)
			hopeless, modest := fixtures.Deployment(1).On(pool).Tolerate(team), fixtures.Deployment(1).On(pool).Tolerate(team)
			row.spoil(hopeless)

			before := env.Mark()
			env.Create(ctx, pool, hopeless)
			env.AwaitAtLeast(ctx, 1, noFitEvents(hopeless).With("that name "+row.names, check.Mentioning(row.names)))
			alone := env.Since(before)
			env.Create(ctx, modest)
			env.Await(ctx, 1, check.RunningPods(modest))

			env.Expect(alone, passedOver(pool, hopeless))
			env.Expect(env.Since(before),
				check.Always(check.AtMost(1, check.NodeClaims(pool))),
				check.Always(check.None(check.RunningPods(hopeless))),
			)
		},
	}
})

// unsatisfiable is a change that makes a pod fit no node, and what its event names.
type unsatisfiable struct {
	how, names string
	spoil      func(*fixtures.Workload)
}
