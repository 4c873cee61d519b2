package drift

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// gracePeriod is the terminationGracePeriod of these nodes.
const gracePeriod = 10 * time.Second

// Karpenter drains a node no longer than its terminationGracePeriod, even if pods or
// their PodDisruptionBudgets block the drain. Administrators rely on it to remove a node
// with a security hole in time. Until then a pod that must not be disrupted stays.
//
// Source: designs/nodeclaim-termination-grace-period.md;
// spec.template.spec.terminationGracePeriod of the NodePool API.
var _ = e2e.Table(Suite, map[string]heldNode{
	"pod":        {"drains nodes no longer than their terminationGracePeriod", byPod()},
	"pod-budget": {"waits for a PodDisruptionBudget no longer than the terminationGracePeriod", byPDB()},
}, func(h heldNode) e2e.Spec {
	return e2e.Spec{
		Name: h.name,
		Run: func(ctx context.Context, env *e2e.Env) {
			pool := fixtures.NodePool().TerminationGracePeriod(gracePeriod.String())
			app := fixtures.Deployment(1).On(pool)
			h.from(app)
			env.Create(ctx, pool, app)
			env.Await(ctx, 1, check.RunningPods(app))
			h.on(ctx, env, app)

			before := env.Mark()
			env.Change(ctx, pool.NewTemplate())
			draining := check.Nodes(pool).Deleting()
			env.Await(ctx, 1, draining)
			staying := env.Observe(ctx, karpenter.Settled)
			env.Observe(ctx, gracePeriod+karpenter.DrainEnded-karpenter.Settled)

			env.Expect(staying,
				check.While(draining, check.Exactly(1, check.RunningPods(app).On(check.Nodes(pool).Old(before)))))
			env.Expect(env.Since(before), check.ActsOnDrift(pool),
				check.LeadsTo(check.AtLeast(1, draining), check.None(check.Nodes(pool).Old(before))))
		},
	}
})
