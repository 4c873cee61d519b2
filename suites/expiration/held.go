package expiration

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// held is a workload that blocks a drain.
type held struct {
	name  string
	holds func(context.Context, *e2e.Env, *fixtures.Workload)
}

// Pods that must not be disrupted and PodDisruptionBudgets don't keep a node from
// expiring. Karpenter respects them during the drain, until the node's
// terminationGracePeriod ends. So administrators know when the last node with a leaked
// key is gone. Owners of pods know how long they have.
//
// Source: designs/forceful-expiration.md;
// designs/nodeclaim-termination-grace-period.md.
var _ = e2e.Table(Suite, map[string]held{
	"pod":        {"leaves pods that must not be disrupted their terminationGracePeriod", forbidDisruption},
	"pod-budget": {"waits for a PodDisruptionBudget up to the terminationGracePeriod", addPodBudget},
}, func(h held) e2e.Spec {
	return e2e.Spec{
		Name: h.name,
		Run: func(ctx context.Context, env *e2e.Env) {
			pool := fixtures.NodePool().ExpireAfter(ttl.String()).TerminationGracePeriod(gracePeriod.String())
			app := fixtures.Deployment(1).On(pool)
			h.holds(ctx, env, app)
			env.Create(ctx, pool, app)
			env.Await(ctx, 1, check.RunningPods(app))

			before := env.Mark()
			draining := check.Nodes(pool).Deleting().Old(before)
			env.Await(ctx, 1, draining)
			staying := env.Observe(ctx, karpenter.Settled)
			env.Observe(ctx, gracePeriod+karpenter.DrainEnded-karpenter.Settled)

			env.Expect(staying, check.While(draining, check.Exactly(1, check.RunningPods(app).On(draining))))
			env.Expect(env.Since(before), expires(pool),
				check.LeadsTo(check.AtLeast(1, draining), check.None(check.Nodes(pool).Old(before))))
		},
	}
})

func forbidDisruption(_ context.Context, _ *e2e.Env, app *fixtures.Workload) {
	app.Annotate(karpenter.DoNotDisruptAnnotation, "true")
}

func addPodBudget(ctx context.Context, env *e2e.Env, app *fixtures.Workload) {
	env.Create(ctx, app.MinAvailable(1))
}
