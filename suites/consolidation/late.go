package consolidation

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter waits and looks once more before it removes a node. In the meantime users protect pods and
// lower budgets, and pods take the room that others were meant for. What was true when the
// node was chosen then costs a pod its work, or leaves it without a place. The grace period, by
// which other disruptions end protected pods, changes nothing about that.
//
// Source: https://karpenter.sh/docs/concepts/disruption, "Control Flow" and "Consolidation".
var _ = e2e.Table(Suite, map[string]obstacle{
	"protected": {
		"its pod must not be disrupted any more",
		func(ctx context.Context, env *e2e.Env, s scene) {
			env.Annotate(ctx, s.pod, karpenter.DoNotDisruptAnnotation, "true")
		},
		func(ctx context.Context, env *e2e.Env, s scene) {
			env.RemoveAnnotation(ctx, s.pod, karpenter.DoNotDisruptAnnotation)
		},
	},
	"budget": {
		"its pool allows no more disruption",
		func(ctx context.Context, env *e2e.Env, s scene) { env.Change(ctx, s.pool.Budget("0")) },
		func(ctx context.Context, env *e2e.Env, s scene) { env.Change(ctx, s.pool.NoBudgets()) },
	},
	"room": {
		"the room for its pod is taken",
		func(ctx context.Context, env *e2e.Env, s scene) { env.Create(ctx, s.rival) },
		func(ctx context.Context, env *e2e.Env, s scene) { env.Delete(ctx, s.rival) },
	},
}, func(row obstacle) e2e.Spec {
	return e2e.Spec{
		Name: "keeps a node that it is about to remove if " + row.words,
		Run: func(ctx context.Context, env *e2e.Env) {
			pool := fixtures.NodePool().Consolidate(fixtures.WhenEmptyOrUnderutilized).TerminationGracePeriod("1h")
			app, first := fixtures.Deployment(2).On(pool), fixtures.Deployment(1).On(pool).HostPort(port)
			last := fixtures.Deployment(1).On(pool).HostPort(port)
			env.Create(ctx, pool, app, first)
			env.Await(ctx, 2, check.RunningPods(app))
			other := env.Await(ctx, 1, check.RunningPods(first))[0].Unstructured()
			env.Create(ctx, last)
			pod := env.Await(ctx, 1, check.RunningPods(last))[0]
			rival := fixtures.Pod().HostPort(port).RequireNode(karpenter.PodNode(other))
			s := scene{pool, pod, rival}
			env.Observe(ctx, karpenter.NominationOver)

			before := env.Mark()
			env.Delete(ctx, first)
			env.Observe(ctx, karpenter.ConsolidationBegun)
			row.comes(ctx, env, s)
			env.Observe(ctx, karpenter.ConsolidationDecided)
			kept := env.Since(before)
			row.goes(ctx, env, s)
			env.Await(ctx, 1, check.Nodes(pool))

			room := check.AllOf(check.None(check.PodsOf(first)), check.AtLeast(1, check.RunningPods(last)))
			env.Expect(kept, check.Always(check.When(room, neverDisrupted(last, pool))))
		},
	}
})

// obstacle is why a node must stay after all. It comes and goes.
type obstacle struct {
	words       string
	comes, goes func(ctx context.Context, env *e2e.Env, s scene)
}

// scene is a pool whose node is about to go, that node's pod, and a pod that takes the room
// elsewhere.
type scene struct {
	pool  *fixtures.Pool
	pod   *history.Object
	rival *fixtures.Workload
}
