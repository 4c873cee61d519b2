package drift

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A pool's drifted nodes are replaced although those of another pool, which drifted
// before, can't be. One team's used-up quota must not keep the old, insecure images of
// all other teams.
//
// Source: https://karpenter.sh/docs/concepts/disruption, "Drift";
// https://github.com/kubernetes-sigs/karpenter/issues/3080.
var _ = Suite.Add(e2e.Spec{
	Name: "replaces nodes of a pool while the replacements of another pool fail",
	Known: []e2e.Known{{
		Releases: ">=1.0.0 <=1.15.0", // seen in v1.0.8, v1.14.0, v1.14.3 and v1.15.0
		Issue:    "https://github.com/kubernetes-sigs/karpenter/issues/3080",
		Reason:   "drift tries the node that drifted first again and again, and never comes to the next",
		Breaks:   []string{"^waited for 1 "},
	}},
	Run: func(ctx context.Context, env *e2e.Env) {
		failing, sound := fixtures.NodePool(), fixtures.NodePool()
		env.Launch(ctx, 1, failing, fixtures.Deployment(1).On(failing))
		app := fixtures.Deployment(1).On(sound)
		env.Launch(ctx, 1, sound, app)
		policy, binding := fixtures.RefusedNodeClaims(failing)
		env.Enforce(ctx, policy, binding)

		before := env.Mark()
		env.Change(ctx, failing.NewTemplate())
		env.Await(ctx, 1, check.DriftedNodeClaims(failing))
		env.Observe(ctx, karpenter.Settled) // the times of conditions are whole seconds
		env.Change(ctx, sound.NewTemplate())
		env.Await(ctx, 1, check.RunningPods(app).On(check.ReplacedNodes(sound, before)))
		env.Await(ctx, 0, check.Nodes(sound).Old(before))

		env.Expect(env.Since(before), check.ActsOnDrift(sound),
			check.While(check.DriftedNodeClaims(failing), check.Exactly(1, check.ReadyNodes(failing).Staying())))
	},
})
