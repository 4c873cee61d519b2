package nodeclaim

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A NodeClaim is Launched, then Registered, then Initialized. It is Ready only with all
// three. Its creator waits for these conditions to send work, because no running pod
// shows the same. Here a startup taint delays Initialized, so that the conditions come at
// different moments.
//
// Source: status.conditions of the NodeClaim API;
// pkg/controllers/nodeclaim/lifecycle.
var _ = Suite.Add(e2e.Spec{
	Name: "is launched, then registered, then initialized, and only then ready",
	Run: func(ctx context.Context, env *e2e.Env) {
		starting := fixtures.Key("starting")
		nodeClaim := fixtures.NodeClaim().StartupTaint(starting, fixtures.NoSchedule)
		nodes := newNodes(env, nodeClaim)

		before := env.Mark()
		env.Create(ctx, nodeClaim)
		env.Await(ctx, 1, check.The(nodeClaim).In(karpenter.Registered))
		node := env.Await(ctx, 1, nodes.With("that are ready", karpenter.NodeReady))[0]
		env.RemoveTaint(ctx, starting, node)
		env.Await(ctx, 1, check.The(nodeClaim).In(karpenter.Ready))

		env.Expect(env.Since(before),
			check.ComesWith(check.The(nodeClaim), karpenter.Registered, karpenter.Launched),
			check.ComesWith(check.The(nodeClaim), karpenter.Initialized, karpenter.Registered),
			check.ComesWith(check.The(nodeClaim), karpenter.Ready, karpenter.Initialized))
	},
})
