package chaos

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/faults"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A startup taint that an agent has removed stays away, even if the controller is killed right
// after it has registered the node. The agent has done its work and looks no more. If the next
// controller sets the taint again, the node never becomes initialized, and takes no more pods.
//
// Source: https://karpenter.sh/docs/concepts/nodepools, spec.template.spec.startupTaints: they
// are removed by a daemon, and Karpenter waits for that.
var _ = Suite.Add(e2e.Spec{
	Name:   "leaves startup taints away that were removed before it was killed",
	Within: 3 * time.Minute,
	Known: []e2e.Known{{
		Releases: ">=1.6.0 <=1.15.0", // seen in v1.6.4, v1.9.0 and v1.15.0
		Issue:    e2e.Finding("karpenter-startup-taints-that-come-back"),
		Reason:   "until the NodeClaim says that its node is registered, the startup taints are set with each try",
		Breaks: []string{
			"^waited for 1 node of pool .* that is initialized",
			"nodes are registered with all that their NodeClaims demand, and not before",
		},
		Explored: `(?s)do: (kill-controller|fault).*do: start-agents|do: start-agents.*do: (kill-controller|fault)`,
	}},
	Run: func(ctx context.Context, env *e2e.Env) {
		starting := fixtures.Key("starting")
		pool := fixtures.NodePool().StartupTaint(starting, fixtures.NoSchedule)
		app := fixtures.Deployment(1).On(pool)
		env.Fault(ctx, faults.CrashAfter(faults.On("patch", karpenter.Nodes)))
		env.Create(ctx, pool, app)
		node := env.Await(ctx, 1, check.StartingNodes(pool, starting))[0]
		env.RemoveTaint(ctx, starting, node)

		before := env.Mark()
		env.AwaitFaults(ctx)
		env.Await(ctx, 1, check.InitializedNodes(pool))
		env.Expect(env.Since(before), check.Always(check.When(check.AtLeast(1, check.ReadyNodes(pool)),
			check.None(check.StartingNodes(pool, starting)))))
	},
})
