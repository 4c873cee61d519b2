package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A pod that may run on certain nodes of no pool, or else on Karpenter's, gets one of these. Users
// fill the nodes that they have reserved first, and let Karpenter launch the rest.
//
// Source: nodeSelectorTerms of the Pod API, of which one must be true;
// https://karpenter.sh/docs/concepts/scheduling.
var _ = Suite.Add(e2e.Spec{
	Name: "launches a node for pods that may run on nodes of no pool, or else on its own",
	Known: []e2e.Known{{
		Releases: ">=1.0.0 <=1.15.0", // seen in v1.14.3 and v1.15.0
		Issue:    e2e.Finding("karpenter-alternatives-to-nodes-of-no-pool"),
		Reason:   "a pod is ignored if the first of its alternatives are nodes of no pool",
		Breaks:   []string{"^waited for 1 pod"},
	}},
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().Label(team, "red")
		app := fixtures.Deployment(1).Require(karpenter.NodePoolLabel, fixtures.DoesNotExist).
			Require(nowhere, fixtures.Exists).OrRequire(team, fixtures.In, "red")
		launchOnce(ctx, env, pool, app)
	},
})
