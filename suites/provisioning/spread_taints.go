package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// fence is a constraint on pods that may not run in one of two racks, which is
// tainted; how many of two pods run in the other one, and how many are refused.
type fence struct {
	how           string
	by            *fixtures.Spread
	runs, refused int
}

// Whether a domain counts whose nodes all have a taint that pods don't tolerate, is
// said by the constraint: if it counts, which is the default, it stays empty, and the
// second pod in the other domain would be one too many; if it doesn't, pods run where
// they may. It decides whether a dedicated zone holds up everybody else.
//
// Source: topologySpreadConstraints, nodeTaintsPolicy, of the Pod API;
// https://github.com/kubernetes-sigs/karpenter/issues/430.
var _ = e2e.Table(Suite, []fence{
	{"holds pods back for a domain whose taint they don't tolerate", fixtures.Over(rack), 1, 1},
	{"holds no pods back for a tainted domain if taints are to be honoured", fixtures.Over(rack).Untolerated(fixtures.Honor), 2, 0},
}, func(f fence) e2e.Spec {
	return e2e.Spec{
		Name:  f.how,
		Needs: []providers.Capability{providers.NodePools},
		Run: func(ctx context.Context, env *e2e.Env) {
			dedicated := fixtures.Key("dedicated")
			open, fenced := rivals()
			open.Label(rack, "a")
			fenced.Label(rack, "b").Taint(dedicated, fixtures.NoSchedule)
			owner := fixtures.Deployment(1).On(fenced).Tolerate(dedicated)
			app := among(open).Spread(f.by)

			before := env.Now()
			env.Create(ctx, open, fenced, owner)
			env.Await(ctx, 1, check.RunningPods(owner))
			env.Create(ctx, app)
			env.Await(ctx, f.runs, check.RunningPods(app))
			env.AwaitAtLeast(ctx, f.refused, refusals(app))

			env.Expect(env.Since(before), check.Always(check.AtMost(f.runs, check.NodeClaims(open))),
				check.Finally(check.Exactly(f.runs, check.RunningPods(app))),
				check.Always(check.AtMost(1, check.NodeClaims(fenced))))
		},
	}
})
