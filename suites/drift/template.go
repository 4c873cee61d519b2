package drift

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// A change of any static field of a pool's template marks the nodes that were
// launched from it as drifted, and replaces them: it is how a change reaches
// nodes that are already there.
//
// Source: https://karpenter.sh/docs/concepts/disruption/#drift, "Static fields";
// designs/drift-hash-versioning.md. Startup taints have a spec of their own.
var (
	_ = Suite.Add(replaces("labels change", func(p *fixtures.Pool) { p.Label(fixtures.Key("drift"), "yes") }))
	_ = Suite.Add(replaces("annotations change", func(p *fixtures.Pool) { p.Annotation(fixtures.Key("drift"), "yes") }))
	_ = Suite.Add(replaces("taints change", func(p *fixtures.Pool) { p.Taint(fixtures.Key("drift"), fixtures.NoSchedule) }))
	_ = Suite.Add(replaces("expireAfter changes", func(p *fixtures.Pool) { p.ExpireAfter("720h") }))
	_ = Suite.Add(replaces("terminationGracePeriod changes", func(p *fixtures.Pool) { p.TerminationGracePeriod("5m") }))
)

func replaces(what string, change func(*fixtures.Pool)) e2e.Spec {
	return e2e.Spec{
		Name:  "replaces nodes when their template's " + what,
		Needs: []providers.Capability{providers.NodePools},
		Run: func(ctx context.Context, env *e2e.Env) {
			pool := fixtures.NodePool()
			app := fixtures.Deployment(1).On(pool).Tolerate(fixtures.Key("drift"))
			env.Create(ctx, pool, app)
			env.Await(ctx, 1, check.RunningPods(app))

			before, old := env.Now(), env.World()
			change(pool)
			env.Change(ctx, pool)
			env.Await(ctx, 1, check.DriftedClaims(pool))
			env.Await(ctx, 1, check.RunningPods(app).On(check.ReplacedNodes(pool, old)))
			env.Await(ctx, 0, check.Nodes(pool).Old(old))

			env.Expect(env.Since(before), drifting(pool))
		},
	}
}
