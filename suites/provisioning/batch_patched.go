package provisioning

import (
	"context"
	"strconv"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter closes a batch when no other pod has come for a second. Changes of a pod that
// it knows do not hold the batch open. Controllers such as queues annotate waiting pods
// all the time, and each of their nodes would come ten seconds late.
//
// Source: setting batch-idle-duration, https://karpenter.sh/docs/concepts/scheduling;
// https://github.com/kubernetes-sigs/karpenter/issues/1244.
var _ = Suite.Add(e2e.Spec{
	Name: "launches a node in time for a pod that others change all the time",
	Known: []e2e.Known{{
		Releases: ">=1.0.0 <1.5.0", // seen in v1.1.5
		Issue:    "https://github.com/kubernetes-sigs/karpenter/issues/1244",
		Reason:   "each event of a pending pod holds the batch open",
		Breaks:   []string{"leads to at least 1 NodeClaim"},
	}},
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app := fixtures.Pod().On(pool)
		env.Create(ctx, app)
		env.Await(ctx, 1, check.UnschedulablePods(app))

		before := env.Mark()
		env.Create(ctx, pool)
		env.Repeat(ctx, int(karpenter.BatchMax/often), often, func(change int) {
			env.Annotate(ctx, app, fixtures.Key("change"), strconv.Itoa(change))
		})
		env.Await(ctx, 1, check.RunningPods(app))

		env.Expect(env.Since(before), check.Within(karpenter.BatchMax/2,
			check.LeadsTo(check.AtLeast(1, check.The(pool).In(karpenter.Ready)), check.AtLeast(1, check.NodeClaims(pool)))))
	},
})

// often is the time between two changes of a pod. It is shorter than an idle batch stays
// open.
const often = karpenter.BatchIdle / 2
