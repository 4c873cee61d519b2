package static

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// racingReplacements is a failure that specs of static drift hit now and then.
var racingReplacements = []e2e.Known{{
	Releases: ">=1.9.0 <=1.15.0", // seen in v1.9.0 and v1.15.0
	Issue:    "https://github.com/kubernetes-sigs/karpenter/issues/3250",
	Reason: "a static pool takes the replacement of a drifted node for one node too many, " +
		"and deletes it in the middle of its launch",
	Breaks: []string{
		`^waited for \d+ (nodes?|NodeClaims?) of pool`,
		// Some providers also leave the replacement's node behind, as their own known failure says.
		"instances, NodeClaims, nodes and pods come and go together", "left behind: Node ",
	},
	Sometimes: true,
}}

// removeNodes removes a static pool's nodes at the end of a spec. The clean-up deletes NodePools
// and NodeClaims at once. Karpenter would replace these until it sees the pool's deletion.
func removeNodes(ctx context.Context, env *e2e.Env, pool *fixtures.Pool) {
	env.Change(ctx, pool.Replicas(0))
	env.Await(ctx, 0, check.NodeClaims(pool))
}

// awaitRest waits until a pool's old nodes are gone, and a moment longer. Retiring a pool at once
// might delete a NodeClaim during its launch.
func awaitRest(ctx context.Context, env *e2e.Env, pool *fixtures.Pool, since history.Mark) {
	env.Await(ctx, 0, check.Nodes(pool).Old(since))
	env.Await(ctx, 0, check.NodeClaims(pool).Old(since))
	env.Observe(ctx, karpenter.Settled)
}
