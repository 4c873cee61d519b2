package drift

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// disregarded is a change of a pool that leaves its nodes alone.
type disregarded struct {
	what   string
	change func(*fixtures.Pool)
}

// A change of what isn't in the template, or that says the same in other words,
// leaves the nodes alone: whoever tunes a weight, a limit or a budget of a pool in
// use, or lets a tool sort its manifest, doesn't mean to replace its nodes. The
// template is changed in the end, so that the silence before means something.
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
			quiet, changed := env.Since(before), env.Mark() // from the change on, not from its end
			env.Change(ctx, pool.NewTemplate())
			env.Await(ctx, 1, check.RunningPods(app).On(check.ReplacedNodes(pool, before)))

			env.Expect(quiet, check.Always(check.None(check.DriftedNodeClaims(pool))),
				check.Always(check.None(check.DisruptedNodes(pool))))
			env.Expect(env.Since(changed), check.ActsOnDrift(pool))
		},
	}
})
