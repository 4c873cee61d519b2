package chaos

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter gives each pod one node after the API server was down for half a minute. The
// pods are created just before, and the controller loses its state and its lease. Control
// planes are upgraded and crash, and nobody creates the waiting pods again.
//
// Source: https://karpenter.sh/docs/concepts/scheduling: pending pods are
// provisioned for, whatever happened before; the API is the only record.
var _ = Suite.Add(e2e.Spec{
	Name:   "leaves no pod without a node after the API server was down for half a minute",
	Within: 4 * time.Minute,
	Known: []e2e.Known{{
		Releases: ">=1.9.0 <=1.15.0", // seen in v1.9.0; v1.15.0 does the same
		Issue:    "https://github.com/kubernetes-sigs/karpenter/pull/1683",
		Reason: "a controller that starts before the API server serves its CRDs again goes on " +
			"without the indexes that it needs, and ends no node until it is restarted",
		Breaks:    []string{"left behind: (NodePool|NodeClaim|Node) "},
		Sometimes: true,
	}},
	Breaks: []e2e.Breach{{
		Invariant: "the controller neither restarts nor panics",
		Why:       "a leader that can't renew its lease ends itself, so that there are never two",
	}},
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app := fixtures.Deployment(3).OnePodPerNode().On(pool)

		env.Create(ctx, pool, app)
		env.StopAPIServer(ctx, 30*time.Second)
		back := env.Mark()
		env.Await(ctx, 3, check.RunningPods(app))

		launched := check.AtMost(3, check.NodeClaims(pool))
		env.Expect(env.Since(back),
			check.LeadsTo(check.AtLeast(1, check.PendingPods(app)), check.Exactly(3, check.RunningPods(app))))
		env.Expect(env.Since(back), check.Always(launched), launched.Reached())
	},
})
