package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter matches tolerations with taints as the scheduler does. A toleration without an
// operator asks for the taint's value, one without an effect matches all effects, and one
// without a key matches all keys. The pool with the other taint has more weight and serves
// pods that tolerate everything. A node of it would stay empty and cost money.
//
// Source: tolerations of the Pod API;
// https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration;
// https://karpenter.sh/docs/concepts/scheduling, "Taints and tolerations".
var _ = e2e.Table(Suite, map[string]tolerant{
	"value": {
		"by their value",
		func(app *fixtures.Workload) { app.TolerateValue(team, "red") },
		func(pool *fixtures.Pool) { pool.TaintValue(team, "blue", fixtures.NoSchedule) },
		func(pool *fixtures.Pool) {
			pool.TaintValue(team, "red", fixtures.NoSchedule).TaintValue(team, "red", fixtures.NoExecute)
		},
	},
	"effect": {
		"by their effect",
		func(app *fixtures.Workload) { app.TolerateEffect(team, fixtures.NoSchedule) },
		func(pool *fixtures.Pool) { pool.Taint(team, fixtures.NoExecute) },
		func(pool *fixtures.Pool) { pool.TaintValue(team, "red", fixtures.NoSchedule) },
	},
	"every-key": {
		"by their effect alone",
		func(app *fixtures.Workload) { app.TolerateAll(fixtures.NoSchedule) },
		func(pool *fixtures.Pool) { pool.Taint(team, fixtures.NoExecute) },
		func(pool *fixtures.Pool) { pool.Taint(team, fixtures.NoSchedule).Taint(size, fixtures.NoSchedule) },
	},
}, func(row tolerant) e2e.Spec {
	return e2e.Spec{
		Name: "takes the pool whose taints a pod tolerates " + row.how,
		Run: func(ctx context.Context, env *e2e.Env) {
			barred, open := rivalPools()
			row.bar(barred)
			row.open(open)
			app, indifferent := rivalDeployment(barred), fixtures.Deployment(1).On(barred).Tolerate(team)
			row.tolerate(app)

			before := env.Mark()
			env.Create(ctx, barred, open, app)
			env.Await(ctx, 2, check.RunningPods(app))
			choosy := env.Since(before)
			env.Create(ctx, indifferent)
			env.Await(ctx, 1, check.RunningPods(indifferent))

			env.Expect(choosy, passedOver(barred, app), check.EndsWith(app, check.Exactly(2, check.ReadyNodes(open))))
		},
	}
})

// tolerant is a toleration of pods, taints of a pool that it doesn't match, and taints that it
// matches.
type tolerant struct {
	how       string
	tolerate  func(*fixtures.Workload)
	bar, open func(*fixtures.Pool)
}
