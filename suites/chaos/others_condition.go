package chaos

import (
	"context"
	"fmt"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/faults"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A controller that says something new in a NodeClaim's status takes nothing back that another writer has said
// meanwhile, even if it has not seen that yet. Karpenter has several controllers that write conditions of the same
// NodeClaims, and others may add their own. The list of conditions is written as a whole, so that an older one would
// undo Drifted, or what an agent has found out.
//
// Source: https://github.com/kubernetes/community/blob/master/contributors/devel/sig-architecture/api-conventions.md,
// "Concurrency Control and Consistency"; https://github.com/kubernetes-sigs/karpenter/pull/1658.
var _ = Suite.Add(e2e.Spec{
	Name:   "keeps a condition that was set before it heard of it",
	Within: 3 * time.Minute,
	Known: []e2e.Known{{
		Releases: ">=1.0.0 <=1.15.0", // seen in v1.14.3 and v1.15.0; the others have the same lines
		Issue:    e2e.Finding("karpenter-conditions-that-go-back"),
		Reason:   "the lifecycle controller writes conditions as it has read them before others wrote theirs",
		Breaks:   []string{"^always exactly 1 NodeClaim of pool .* that is Inspected"},
	}},
	Run: func(ctx context.Context, env *e2e.Env) {
		starting := fixtures.Key("starting")
		pool := fixtures.NodePool().StartupTaint(starting, fixtures.NoSchedule)
		app := fixtures.Deployment(1).On(pool)
		env.Create(ctx, pool, app)
		node := env.Await(ctx, 1, check.StartingNodes(pool, starting))[0]
		env.Await(ctx, 1, check.NodeClaims(pool).In(karpenter.Registered))
		env.Observe(ctx, karpenter.Settled)
		nodeClaim := env.Await(ctx, 1, check.NodeClaims(pool))[0]

		env.Fault(ctx, faults.HoldEvents(karpenter.NodeClaims, 30*time.Second))
		env.PatchStatus(ctx, nodeClaim,
			fmt.Sprintf(`{"status":{"conditions":%s}}`, fixtures.MoreConditions(nodeClaim.Unstructured(), inspected)))
		env.Await(ctx, 1, check.NodeClaims(pool).In(inspected))
		before := env.Mark()
		env.RemoveTaint(ctx, starting, node)
		env.AwaitFaults(ctx)
		env.Await(ctx, 1, check.InitializedNodeClaims(pool))
		env.Await(ctx, 1, check.RunningPods(app))

		env.Expect(env.Since(before), check.Always(check.Exactly(1, check.NodeClaims(pool).In(inspected))))
	},
})

// inspected is the type of a condition that another writer than Karpenter sets.
const inspected = "Inspected"
