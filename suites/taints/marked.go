package taints

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A node has the disrupted taint before it is deleted. The scheduler must not fill it
// during the drain. Other controllers learn of its removal by the taint.
//
// Source: designs/no-schedule-taint.md, taint karpenter.sh/disrupted:NoSchedule.
var _ = Suite.Add(e2e.Spec{
	Name: "mark a node as disrupted before it is deleted",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app := fixtures.Deployment(1).On(pool)
		env.Create(ctx, pool, app)
		env.Await(ctx, 1, check.RunningPods(app))

		before := env.Mark()
		env.Change(ctx, pool.NewTemplate())
		env.Await(ctx, 0, check.Nodes(pool).Old(before))

		deleted := check.Nodes(pool).Deleting()
		marked := check.Nodes(pool).With("that are tainted as disrupted", check.Tainted(karpenter.DisruptedTaint))
		env.Expect(env.Since(before),
			check.Always(check.Each(deleted, "have the disrupted taint", check.Tainted(karpenter.DisruptedTaint))),
			check.Always(check.None(marked.New(before))))
	},
})
