package drift

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A NodePool gives its nodes a label, and requires another value of it. No node can be as it says.
// Karpenter may launch nothing, or keep what it launches. If it takes each node for one that has
// drifted, it replaces it by the next one that has, and its pods move for ever. Only the budgets
// slow that down, and no error tells the user of the mistake.
//
// Source: https://karpenter.sh/docs/concepts/nodepools, spec.template.spec.requirements ("If there
// is no overlap, nodes will not be launched"); designs/drift.md.
var _ = Suite.Add(e2e.Spec{
	Name: "comes to rest when a pool's label contradicts its requirement",
	Known: []e2e.Known{{
		Releases: ">=1.0.0 <=1.15.0", // seen in v1.14.3 and v1.15.0; the source is the same in v1.0.8
		Issue:    e2e.Finding("karpenter-labels-that-contradict-requirements"),
		Reason:   "a label that the requirements exclude is taken for none, so nodes are launched that have drifted at once",
		Breaks: []string{
			"^always no nodes of pool .* that are disrupted", "Karpenter comes to rest when nothing changes",
			"instances match what their NodeClaims request",
		},
		Explored: contradictory,
	}},
	Run: func(ctx context.Context, env *e2e.Env) {
		team := fixtures.Key("team")
		pool := fixtures.NodePool().Label(team, "blue").Require(team, fixtures.In, "green")
		other := fixtures.NodePool()
		app, beside := fixtures.Deployment(1).On(pool), fixtures.Deployment(1).On(other)

		before := env.Mark()
		env.Create(ctx, pool, other, app, beside)
		env.Await(ctx, 1, check.RunningPods(beside))
		env.Observe(ctx, karpenter.NominationOver+karpenter.DisruptionPolled)

		env.Expect(env.Since(before),
			check.Always(check.None(check.DisruptedNodes(pool).AmongObjects(check.PodsOf(app)))))
	},
})

// contradictory matches sequences with a NodePool whose label is red or blue, and whose requirement
// allows only other values.
const contradictory = `template:\n +metadata:(\n +annotations:\n.*)?\n +labels:\n.*/team: (red` +
	requiring + `(blue|green)|blue` + requiring + `((red\n +- )?green|red\n *(- (key|do):|[a-z])))`

// requiring matches what is between the label and the first value that the requirement allows. All
// lines of an action but the first begin with spaces.
const requiring = `(\n  .*)*/team\n +operator: In\n +values:\n +- `
