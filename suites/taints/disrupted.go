package taints

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// Once Karpenter has chosen a node for disruption, no new pod is put on it,
// though it has room and runs others: a pod that starts there would be evicted
// minutes later. The replacement is kept starting here, so that the old node
// stands there with its taint while the pods come.
//
// Source: designs/no-schedule-taint.md, taint karpenter.sh/disrupted:NoSchedule.
var _ = Suite.Add(e2e.Spec{
	Name:  "keep new pods off a node that is being disrupted",
	Needs: []providers.Capability{providers.NodePools},
	Run: func(ctx context.Context, env *e2e.Env) {
		starting := fixtures.Key("starting")
		pool := fixtures.NodePool()
		app, late := fixtures.Deployment(1).On(pool), fixtures.Deployment(2).On(pool)
		env.Create(ctx, pool, app)
		env.Await(ctx, 1, check.RunningPods(app))

		before, old := env.Now(), env.World()
		env.Change(ctx, pool.StartupTaint(starting, fixtures.NoSchedule))
		node := env.Await(ctx, 1, registered(pool).New(old))[0]
		env.Create(ctx, late)
		env.Watch(ctx, settled)
		env.Expect(env.Since(before),
			check.Always(check.When(
				check.AtLeast(1, check.DriftedClaims(pool)),
				check.None(check.PodsOf(late).On(check.Nodes(pool).Old(old))))))

		env.RemoveTaint(ctx, node.Name, starting)
		env.Await(ctx, 2, check.RunningPods(late).On(check.ReplacedNodes(pool, old)))
	},
})
