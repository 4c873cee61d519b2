package nodeclaim

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A NodeClaim is Launched, then Registered, then Initialized, and Ready only with
// all three: its maker waits for these conditions to send work, and has no pod
// whose running would say the same. A startup taint holds the last of them back
// here, so that they don't come in one moment.
//
// Source: status.conditions of the NodeClaim API;
// pkg/controllers/nodeclaim/lifecycle.
var _ = Suite.Add(e2e.Spec{
	Name: "is launched, then registered, then initialized, and only then ready",
	Run: func(ctx context.Context, env *e2e.Env) {
		nodeClaim := fixtures.NodeClaim().StartupTaint(fixtures.Key("starting"), fixtures.NoSchedule)
		nodes := newNodes(env, nodeClaim)

		before := env.Mark()
		env.Create(ctx, nodeClaim)
		env.Await(ctx, 1, check.The(nodeClaim).In(karpenter.Registered))
		node := env.Await(ctx, 1, nodes.With("that are ready", karpenter.NodeReady))[0]
		env.Patch(ctx, node, `{"spec":{"taints":null}}`)
		env.Await(ctx, 1, check.The(nodeClaim).In(karpenter.Ready))

		env.Expect(env.Since(before),
			check.ComesWith(check.The(nodeClaim), karpenter.Registered, karpenter.Launched),
			check.ComesWith(check.The(nodeClaim), karpenter.Initialized, karpenter.Registered),
			check.ComesWith(check.The(nodeClaim), karpenter.Ready, karpenter.Initialized))
	},
})
