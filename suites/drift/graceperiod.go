package drift

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// The terminationGracePeriod of these nodes, and how long after its beginning a
// drain is given: Karpenter looks again every few seconds.
const (
	gracePeriod = "10s"
	drained     = 25 * time.Second
)

// A node is drained no longer than its terminationGracePeriod, whatever its pods
// and their PodDisruptionBudgets want: an administrator who sets it counts on a
// node with a security hole being gone by then. Until then a pod that must not be
// disrupted stays.
//
// Source: designs/nodeclaim-termination-grace-period.md;
// spec.template.spec.terminationGracePeriod of the NodePool API.
var _ = e2e.Table(Suite, []heldNode{
	{"drains nodes no longer than their terminationGracePeriod", byPod()},
	{"waits for a PodDisruptionBudget no longer than the terminationGracePeriod", byPDB()},
}, func(h heldNode) e2e.Spec {
	return e2e.Spec{
		Name:  h.name,
		Needs: []providers.Capability{providers.NodePools},
		Run: func(ctx context.Context, env *e2e.Env) {
			pool := fixtures.NodePool().TerminationGracePeriod(gracePeriod)
			app := fixtures.Deployment(1).On(pool)
			env.Create(ctx, pool, app)
			env.Await(ctx, 1, check.RunningPods(app))
			h.on(ctx, env, app)

			before, old := env.Now(), env.World()
			env.Change(ctx, pool.NewTemplate())
			draining := check.NodesWith(pool, karpenter.Deleting, "that are being deleted")
			env.Await(ctx, 1, draining)
			staying := env.Watch(ctx, settled)
			env.Watch(ctx, drained-settled)

			env.Expect(staying, check.Always(check.When(
				check.AtLeast(1, draining),
				check.Exactly(1, check.RunningPods(app).On(check.Nodes(pool).Old(old))))))
			env.Expect(env.Since(before), drifting(pool), check.LeadsTo(check.AtLeast(1, draining), check.None(check.Nodes(pool).Old(old))))
		},
	}
})
