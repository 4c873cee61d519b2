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

// Karpenter goes on launching nodes after a NodeClaim was deleted before the answer to its creation came. A busy API
// server answers late, and a NodeClaim goes quickly if its cloud has no capacity or somebody deletes it. A controller
// that then waits for what is gone launches nothing more, for any pool, until it is restarted.
//
// Source: https://karpenter.sh/docs/concepts/scheduling: pods are provisioned for as long as they are pending.
var _ = Suite.Add(e2e.Spec{
	Name:   "goes on after a NodeClaim was deleted before its creation was answered",
	Within: 4 * time.Minute,
	Known: []e2e.Known{{
		Releases: ">=1.13.0 <1.14.3", // seen in v1.13.0, v1.14.0 and v1.14.1; v1.12.1 and v1.14.3 are green
		Issue:    "https://github.com/kubernetes-sigs/karpenter/issues/3176",
		Reason: "the provisioner notes a NodeClaim when its creation is answered, and waits for ever for the launch of one " +
			"that is gone",
		Breaks: []string{"^waited for 1 pod", "karpenter_cluster_state_synced"},
	}},
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app := fixtures.Deployment(1).On(pool)
		env.Create(ctx, pool)

		before := env.Mark()
		env.Fault(ctx, faults.DelayAnswer(faults.On("create", karpenter.NodeClaims), time.Minute))
		env.Create(ctx, app)
		gone := env.Await(ctx, 1, check.NodeClaims(pool).In(karpenter.Registered))
		env.Delete(ctx, app)
		env.Delete(ctx, gone[0])
		env.Await(ctx, 0, check.NodeClaims(pool))
		env.Observe(ctx, 2*karpenter.BatchIdle) // the controller sees it too; v1.14.3 looks 15 s after the creation
		env.EndFaults()
		late := fixtures.Deployment(1).On(pool)
		env.Create(ctx, late)
		env.Await(ctx, 1, check.RunningPods(late))

		deleted := check.NodeClaims(pool).Deleting()
		env.Expect(env.Since(before), check.LeadsTo(check.AtLeast(1, deleted), check.None(deleted)),
			check.LeadsTo(check.AtLeast(1, check.PendingPods(late)), check.Exactly(1, check.RunningPods(late))))
	},
})
