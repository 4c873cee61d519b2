package drift

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// said is a change of a pool that says what holds without it.
type said struct {
	what   string
	change func(*fixtures.Pool)
	known  []e2e.Known
}

// emptyLists is what releases make of a list without entries.
var emptyLists = []e2e.Known{{
	Releases: ">=1.0.0 <=1.15.0", // seen in v1.6.4 and v1.15.0
	Issue:    e2e.Finding("karpenter-empty-lists"),
	Reason:   "the hash takes an empty list for something, and no list for nothing",
	Breaks: []string{
		"NodeClaims keep their spec, and carry the hash of their NodePool",
		"^always no NodeClaims of pool .* that have drifted",
		"^always no nodes of pool .* that are disrupted",
	},
}}

// Nodes don't drift if their pool says what was its default, or that there is nothing where
// it said nothing. Tools write manifests out in full, and users copy what kubectl shows them.
// They don't want new nodes for that. At the end the spec changes the template, to show that
// Karpenter reacts to drift.
//
// Source: designs/v1-api.md, "Defaults"; the default of spec.template.spec.expireAfter in the
// NodePool API; pkg/apis/v1/nodepool.go, Hash, which ignores empty fields.
var _ = e2e.Table(Suite, map[string]said{
	"expire-after": {"its nodes expire when they do by default", func(p *fixtures.Pool) { p.ExpireAfter("720h") }, nil},
	"empty-lists":  {"it has no taints and no labels", func(p *fixtures.Pool) { p.SayNothing() }, emptyLists},
}, func(s said) e2e.Spec {
	return e2e.Spec{
		Name:  "leaves nodes alone when their pool comes to say that " + s.what,
		Known: s.known,
		Run: func(ctx context.Context, env *e2e.Env) {
			pool := fixtures.NodePool().DefaultExpireAfter()
			app := fixtures.Deployment(1).On(pool)
			env.Launch(ctx, 1, pool, app)

			before := env.Mark()
			s.change(pool)
			env.Change(ctx, pool)
			env.Observe(ctx, karpenter.Settled)
			quiet, changed := env.Since(before), env.Mark()
			env.Change(ctx, pool.NewTemplate())
			env.Await(ctx, 1, check.RunningPods(app).On(check.ReplacedNodes(pool, before)))

			env.Expect(quiet, check.Always(check.None(check.DriftedNodeClaims(pool))),
				check.Always(check.None(check.DisruptedNodes(pool))))
			env.Expect(env.Since(changed), check.ActsOnDrift(pool))
		},
	}
})
