package drift

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter replaces a drifted node whose pod may go nowhere but to the same rack: pods exclude
// each other by rack, and there is one in each. A pod that moves is not in its own way. If Karpenter counts
// it where it still runs, such nodes never get the new template, as with databases that have a
// replica in each zone.
//
// Source: podAntiAffinity of the Pod API; designs/drift.md; Karpenter:
// pkg/controllers/provisioning/scheduling/topology.go, countDomains.
var _ = Suite.Add(e2e.Spec{
	Name: "replaces nodes of pods that exclude each other by rack though each rack has one",
	Run: func(ctx context.Context, env *e2e.Env) {
		rack := fixtures.Key("rack")
		pool := fixtures.NodePool().Require(rack, fixtures.In, "a", "b")
		app := fixtures.Deployment(2).On(pool)
		env.Create(ctx, pool, app.PodAntiAffinity(app, rack))
		env.Await(ctx, 2, check.RunningPods(app))
		env.Await(ctx, 2, check.ReadyNodes(pool))

		before := env.Mark()
		env.Change(ctx, pool.NewTemplate())
		env.Await(ctx, 2, check.RunningPods(app).On(check.ReplacedNodes(pool, before)))
		env.Await(ctx, 0, check.Nodes(pool).Old(before))

		env.Expect(env.Since(before), check.ActsOnDrift(pool),
			check.Always(check.AtMost(2, check.NodeClaims(pool).New(before))),
			check.Finally(check.Balanced(0, check.ReadyNodes(pool), rack)))
	},
})
