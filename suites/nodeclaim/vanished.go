package nodeclaim

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// Karpenter deletes a NodeClaim if its instance vanishes and nobody requested that.
// Otherwise its creator would wait for a machine that is gone, and pay without a
// replacement.
//
// Source: pkg/controllers/nodeclaim/garbagecollection, which looks every two minutes;
// https://karpenter.sh/docs/concepts/nodeclaims.
var _ = Suite.Add(e2e.Spec{
	Name:   "is given up when its instance has vanished",
	Hooks:  []providers.HookName{providers.TerminateInstance},
	Within: 4 * time.Minute,
	Breaks: []e2e.Breach{{
		Invariant: "instances end before their nodes and NodeClaims do",
		Why:       "the instance ends behind Karpenter's back, and its node may with it",
	}},
	Run: func(ctx context.Context, env *e2e.Env) {
		nodeClaim := fixtures.NodeClaim()
		nodes := newNodes(env, nodeClaim)
		env.Create(ctx, nodeClaim)
		env.Await(ctx, 1, check.The(nodeClaim).In(karpenter.Initialized))
		node := env.Await(ctx, 1, nodes)[0]

		before := env.Mark()
		env.Hook(ctx, providers.TerminateInstance, e2e.About(node))
		env.Await(ctx, 0, check.The(nodeClaim))
		env.Await(ctx, 0, nodes)

		env.Expect(env.Since(before),
			check.LeadsTo(check.AtLeast(1, check.The(nodeClaim)), check.AtLeast(1, check.The(nodeClaim).Deleting())),
			check.LeadsTo(check.AtLeast(1, check.The(nodeClaim).Deleting()), check.None(check.The(nodeClaim))))
	},
})
