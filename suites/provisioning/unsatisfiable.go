package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// A pod that no node could ever run, for its size or for a label that nothing
// has, is told so by an event, and nothing is launched for it: a node that
// doesn't help is paid for, and silence costs an afternoon. The pod beside it
// gets its node all the same.
//
// Source: https://karpenter.sh/docs/troubleshooting, "Pods pending"; event
// FailedScheduling.
var (
	_ = Suite.Add(unsatisfiable("too large for any node", func(app *fixtures.Workload) { app.CPU("100k") }))
	_ = Suite.Add(unsatisfiable("bound to a label that no node has", func(app *fixtures.Workload) { app.Select(fixtures.Key("nowhere"), "yes") }))
)

func unsatisfiable(how string, make func(*fixtures.Workload)) e2e.Spec {
	return e2e.Spec{
		Name:  "reports a pod that is " + how + ", and launches nothing for it",
		Needs: []providers.Capability{providers.NodePools},
		Run: func(ctx context.Context, env *e2e.Env) {
			pool := fixtures.NodePool()
			hopeless, modest := fixtures.Deployment(1).On(pool), fixtures.Deployment(1).On(pool)
			make(hopeless)

			before := env.Now()
			env.Create(ctx, pool, hopeless)
			env.AwaitAtLeast(ctx, 1, refusals(hopeless))
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
}
