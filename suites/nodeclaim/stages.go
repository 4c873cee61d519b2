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
	Name:  "is launched, then registered, then initialized, and only then ready",
	Needs: needs(),
	Run: func(ctx context.Context, env *e2e.Env) {
		claim := fixtures.NodeClaim().StartupTaint(fixtures.Key("starting"), fixtures.NoSchedule)
		nodes := newNodes(env, claim)

		before := env.Now()
		env.Create(ctx, claim)
		env.Await(ctx, 1, in(claim, karpenter.Registered))
		node := env.Await(ctx, 1, nodes.With("that are ready", karpenter.NodeReady))[0]
		env.Patch(ctx, karpenter.Nodes, "", node.Name, `{"spec":{"taints":null}}`)
		env.Await(ctx, 1, in(claim, karpenter.Ready))

		env.Expect(env.Since(before),
			comesWith(claim, karpenter.Registered, karpenter.Launched),
			comesWith(claim, karpenter.Initialized, karpenter.Registered),
			comesWith(claim, karpenter.Ready, karpenter.Initialized))
	},
})

// comesWith checks that a NodeClaim has a condition only together with another.
func comesWith(claim *fixtures.Claim, later, earlier string) check.Check {
	return check.Always(check.When(check.AtLeast(1, in(claim, later)), check.Exactly(1, in(claim, earlier))))
}
