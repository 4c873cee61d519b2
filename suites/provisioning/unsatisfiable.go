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
	"too-large": {how: "is too large for any node", names: "cpu", spoil: func(app *fixtures.Workload) {
		app.CPU("100k")
	}},
	"label": {how: "selects a label that no node has", names: nowhere, spoil: func(app *fixtures.Workload) {
		app.Select(nowhere, "yes")
	}},
	"resource": {how: "wants an unknown resource", names: nowhere, spoil: func(app *fixtures.Workload) {
		app.Request(nowhere, "1").Limit(nowhere, "1")
	}},
	"storage": {
		how: "wants more storage than any node has", names: "ephemeral-storage",
		spoil: func(app *fixtures.Workload) { app.Request("ephemeral-storage", "1Ei") },
	},
	"instance-type": {
		how: "wants an unknown instance type", names: corev1.LabelInstanceTypeStable,
		spoil: func(app *fixtures.Workload) { app.Select(corev1.LabelInstanceTypeStable, "none") },
	},
	"zone": {how: "wants an unknown zone", names: zone, spoil: func(app *fixtures.Workload) {
		app.Select(zone, "nowhere")
	}},
	"node-name": {
		how: "wants a node by its name", names: "matchFields", known: ignored,
		spoil: func(app *fixtures.Workload) { app.RequireNode("nowhere") },
	},
	"volume": {
		how: "wants an unknown volume", names: "disk-",
		spoil: func(app *fixtures.Workload) { app.Mount(fixtures.BoundZonalVolume("nowhere")) },
		known: ignored,
	},
	"contradictory": {
		how: "selects two values of a label at once", names: nowhere,
		spoil: func(app *fixtures.Workload) { app.Select(nowhere, "yes").Require(nowhere, fixtures.In, "no") },
		known: []e2e.Known{{
			Releases: ">=1.0.0 <=1.15.0", // seen in v1.14.3 and v1.15.0; the source is the same in v1.0.8
			Issue:    e2e.Finding("karpenter-pods-that-contradict-themselves"),
			Reason:   "a label of which a pod excludes all values is taken for one that nodes must not have",
			Breaks: []string{
				"^waited for at least 1 event FailedScheduling", "launched nodes take pods that they were launched for",
			},
		}},
	},
	"below": {
		how: "wants a number below zero as a label", names: size,
		spoil: func(app *fixtures.Workload) { app.Require(size, fixtures.Lt, "0") },
		known: []e2e.Known{
			panicking(">=1.9.0 <=1.15.0"), // seen in v1.14.3 and v1.15.0
			// Seen in v1.0.8 and v1.6.4. By the source up to v1.8.0, they do so once they have launched an instance.
			panicking(">=1.0.0 <1.9.0", "^left behind: Node", "instances, NodeClaims, nodes and pods come and go together"),
		},
	},
	"taint": {how: "is kept off by a taint", names: team, spoil: func(app *fixtures.Workload) { app.Intolerant() }},
}, func(row unsatisfiable) e2e.Spec {
	return e2e.Spec{
		Name:  "reports a pod that " + row.how + ", and launches nothing for it",
		Known: row.known,
		Run: func(ctx context.Context, env *e2e.Env) {
			pool := fixtures.NodePool().Taint(team, fixtures.NoSchedule).Require(size, fixtures.Exists)
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

// panicking is that a number below zero is too much for the controller of some releases. It breaks more in some.
func panicking(releases string, more ...string) e2e.Known {
	return e2e.Known{
		Releases: releases,
		Issue:    e2e.Finding("karpenter-pods-that-crash-the-controller"),
		Reason:   "the controller panics when it chooses a number below zero",
		Breaks: append([]string{
			"^waited for at least 1 event FailedScheduling", "^a controller of the provider panicked",
			"the controller neither restarts nor panics",
		}, more...),
		Explored: `operator: Lt\n +values:\n +- "0"`,
	}
}

// ignored is that nobody is told of a pod that Karpenter ignores.
var ignored = []e2e.Known{{
	Releases: ">=1.0.0 <1.7.0", // seen in v1.0.8 and v1.6.4
	Issue:    "https://github.com/kubernetes-sigs/karpenter/pull/2480",
	Reason:   "a pod that is wrong in itself is passed over without an event",
	Breaks:   []string{"^waited for at least 1 event FailedScheduling"},
}}

// unsatisfiable is a change that makes a pod fit no node, and what its event names.
type unsatisfiable struct {
	how, names string
	spoil      func(*fixtures.Workload)
	known      []e2e.Known
}
