package taints

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A node loses the taint karpenter.sh/disrupted:NoSchedule when its disruption is given
// up, and gets pods again. Otherwise it would cost money without use. Here its
// replacement is lost, and a budget stops Karpenter from another attempt.
//
// Source: designs/no-schedule-taint.md; Karpenter:
// pkg/controllers/disruption/queue.go.
var _ = Suite.Add(e2e.Spec{
	Name: "of a disruption are removed when it is given up, and pods are scheduled again",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app, late := fixtures.Deployment(1).On(pool), fixtures.Deployment(1).On(pool)
		env.Create(ctx, pool, app)
		env.Await(ctx, 1, check.RunningPods(app))

		before := env.Mark()
		env.Change(ctx, pool.StartupTaint(fixtures.Key("starting"), fixtures.NoSchedule))
		lost := env.Await(ctx, 1, check.NodeClaims(pool).In(karpenter.Registered).New(before))[0]
		env.Change(ctx, pool.Budget("0"))
		env.Delete(ctx, lost)
		disrupted := check.DisruptedNodes(pool).Old(before)
		env.Await(ctx, 0, disrupted)
		env.Create(ctx, late)
		env.Await(ctx, 1, check.RunningPods(late).On(check.Nodes(pool).Old(before)))

		env.Expect(env.Since(before), check.LeadsTo(check.AtLeast(1, disrupted), check.None(disrupted)),
			check.Always(check.Each(disrupted, "have the taint with the effect NoSchedule",
				check.TaintedWith(karpenter.DisruptedTaint, fixtures.NoSchedule))),
			check.LeadsTo(check.AtLeast(1, disrupted),
				check.AtLeast(1, check.RunningPods(late).On(check.Nodes(pool).Old(before)))))
	},
})
