package static

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A static pool that is deleted removes its nodes. It launches no replacements while it
// waits until they are gone. Otherwise the pool would never be gone, and would launch
// instances for as long as somebody pays.
//
// Source: designs/static-capacity.md, "Disruption": deleting the pool disrupts
// all of its NodeClaims; https://github.com/kubernetes-sigs/karpenter/pull/2840.
var _ = Suite.Add(e2e.Spec{
	Name: "removes its nodes when the pool is deleted, and replaces none",
	Known: []e2e.Known{{
		Releases: ">=1.9.0 <1.10.0", // seen in v1.9.0
		Issue:    "https://github.com/kubernetes-sigs/karpenter/pull/2840",
		Reason:   "a static pool that is being deleted replaces each NodeClaim that goes",
		Breaks: []string{
			"^waited for 0 ", "^always no NodeClaims", "leads to no nodes", "left behind: (NodePool|NodeClaim|Node) ",
			`Karpenter comes to rest when nothing changes: (after the pool's deletion|pool \S+ got \d+ NodeClaims)`,
		},
		Explored: `kind: NodePool\n(  .*\n)* +replicas: (?s:.*)do: delete-in-foreground`,
	}},
	Foreground: true,
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().Replicas(2)
		env.Create(ctx, pool)
		env.Await(ctx, 2, check.InitializedNodeClaims(pool))

		before := env.Mark()
		env.DeleteInForeground(ctx, pool)
		env.Await(ctx, 0, check.NodeClaims(pool).Old(before))
		env.Await(ctx, 0, check.Nodes(pool).Old(before))
		env.Observe(ctx, karpenter.Settled)

		env.Expect(env.Since(before),
			check.Always(check.None(check.NodeClaims(pool).New(before))),
			check.LeadsTo(check.AtLeast(1, check.DisruptedNodes(pool)), check.None(check.Nodes(pool))))
	},
})
