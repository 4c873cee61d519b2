package chaos

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter gives each pod one node, and removes nodes that are empty, although the clock of its machine is half a
// minute ahead of the API server's, or behind it. Clocks of machines are never quite equal, and times in objects are
// the API server's.
//
// Source: https://pkg.go.dev/k8s.io/client-go/tools/leaderelection: "clients ... do not require clock synchronization";
// https://karpenter.sh/docs/concepts/scheduling: pods are provisioned for as long as they are pending.
var _ = e2e.Table(Suite, map[string]time.Duration{
	"ahead": 30 * time.Second, "behind": -30 * time.Second,
}, func(ahead time.Duration) e2e.Spec {
	how, breaks := "ahead of", []e2e.Breach(nil)
	if ahead < 0 {
		how, breaks = "behind", []e2e.Breach{{
			Invariant: "conditions are well-formed",
			Why:       "a condition begins at its object's creation, by the API server's clock, and changes by the controller's",
		}}
	}
	return e2e.Spec{
		Name:   "launches and removes a node although its clock is half a minute " + how + " the API server's",
		Within: 4 * time.Minute,
		Breaks: breaks,
		Run: func(ctx context.Context, env *e2e.Env) {
			pool := fixtures.NodePool().Consolidate(fixtures.WhenEmpty)
			app := fixtures.Deployment(1).On(pool)
			env.SkewController(ctx, ahead)
			env.Create(ctx, pool)

			before := env.Mark()
			env.Create(ctx, app)
			env.Await(ctx, 1, check.RunningPods(app))
			env.Await(ctx, 1, check.InitializedNodeClaims(pool))
			env.Delete(ctx, app)
			env.Await(ctx, 0, check.NodeClaims(pool))

			deleted := check.NodeClaims(pool).Deleting()
			env.Expect(env.Since(before), check.Always(check.AtMost(1, check.NodeClaims(pool))),
				check.LeadsTo(check.AtLeast(1, check.PendingPods(app)), check.Exactly(1, check.RunningPods(app))),
				check.LeadsTo(check.AtLeast(1, deleted), check.None(check.NodeClaims(pool))))
		},
	}
})
