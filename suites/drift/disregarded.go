package drift

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// disregarded is a change of a pool that must not drift its nodes.
type disregarded struct {
	what   string
	change func(*fixtures.Pool)
}

// Nodes don't drift if a change is outside the template, or says the same in other words.
// Users tune the weight, limits or budgets of a pool in use, or let a tool sort its
// manifest. They don't want new nodes for that. At the end the spec changes the template,
// to show that Karpenter reacts to drift.
//
// Source: https://karpenter.sh/docs/concepts/disruption/#drift, "Behavioral Fields";
// Karpenter: pkg/apis/v1/nodepool.go, Hash.
var _ = e2e.Table(Suite, map[string]disregarded{
	"weight": {"weight changes", func(p *fixtures.Pool) { p.Weight(50) }},
	"limits": {"limits change", func(p *fixtures.Pool) { p.Limit("cpu", "1000") }},
	"disruption": {"disruption block changes", func(p *fixtures.Pool) {
		p.Budget("50%").ConsolidateAfter("10m").ConsolidationPolicy(fixtures.WhenEmpty)
	}},
	"own-labels":         {"own labels change", func(p *fixtures.Pool) { p.OwnLabel(fixtures.Key("team"), "blue") }},
	"taint-order":        {"taints change order", func(p *fixtures.Pool) { p.ReverseTaints() }},
	"expire-after-units": {"expireAfter is written in other units", func(p *fixtures.Pool) { p.ExpireAfter("2880m") }},
}, func(d disregarded) e2e.Spec {
	return e2e.Spec{
		Name: "leaves nodes alone when their pool's " + d.what,
		Run: func(ctx context.Context, env *e2e.Env) {
			first, second := fixtures.Key("first"), fixtures.Key("second")
			pool := fixtures.NodePool().ExpireAfter("48h").Taint(first, fixtures.NoSchedule).Taint(second, fixtures.NoSchedule)
			app := fixtures.Deployment(1).On(pool).Tolerate(first).Tolerate(second)
			env.Create(ctx, pool, app)
			env.Await(ctx, 1, check.RunningPods(app))

			before := env.Mark()
			d.change(pool)
			env.Change(ctx, pool)
			env.Observe(ctx, karpenter.Settled)
			quiet, changed := env.Since(before), env.Mark() // since the start of the change, not its end
			env.Change(ctx, pool.NewTemplate())
			env.Await(ctx, 1, check.RunningPods(app).On(check.ReplacedNodes(pool, before)))

			env.Expect(quiet, check.Always(check.None(check.DriftedNodeClaims(pool))),
				check.Always(check.None(check.DisruptedNodes(pool))))
			env.Expect(env.Since(changed), check.ActsOnDrift(pool))
		},
	}
})
