package nodeclaim

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// A NodeClaim gets no node and is deleted while its NodeClass isn't ready. Its creator
// can retry, and nothing incomplete remains. A new NodeClaim gets a node once the
// NodeClass is ready.
//
// Source: spec.nodeClassRef of the NodeClaim API; Karpenter's regression suite, "should
// delete a NodeClaim if it references a NodeClass that isn't Ready".
var _ = Suite.Add(e2e.Spec{
	Name:  "is given up while its NodeClass isn't ready",
	Needs: []providers.Capability{providers.StandaloneNodeClaims, providers.NodeClassReadiness},
	Hooks: []providers.HookName{providers.UnreadyNodeClass, providers.ReadyNodeClass},
	Run: func(ctx context.Context, env *e2e.Env) {
		nodeClaim, later := fixtures.NodeClaim(), fixtures.NodeClaim()
		nodes := newNodes(env, nodeClaim)
		env.Hook(ctx, providers.UnreadyNodeClass)

		before := env.Mark()
		env.Create(ctx, nodeClaim)
		env.Observe(ctx, 2*karpenter.Settled)
		unready, ready := env.Since(before), env.Mark()
		env.Hook(ctx, providers.ReadyNodeClass)
		env.Create(ctx, later)
		env.Await(ctx, 1, check.The(later).In(karpenter.Initialized))

		env.Expect(unready, check.Always(check.None(nodes)),
			check.LeadsTo(check.AtLeast(1, check.The(nodeClaim)), check.None(check.The(nodeClaim))))
		env.Expect(env.Since(ready),
			check.LeadsTo(check.AtLeast(1, check.The(later)), check.AtLeast(1, check.The(later).In(karpenter.Initialized))))
	},
})
