package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A pod that would rather not run on Karpenter's nodes gets one of them if there are no others. A
// preference that keeps pods pending causes an outage.
//
// Source: preferredDuringSchedulingIgnoredDuringExecution of the Pod API;
// https://karpenter.sh/docs/concepts/scheduling, "Preferences".
var _ = Suite.Add(e2e.Spec{
	Name: "launches a node for pods that only prefer nodes of no pool",
	Known: []e2e.Known{{
		Releases: ">=1.0.0 <=1.15.0", // seen in v1.14.3 and v1.15.0
		Issue:    "https://github.com/kubernetes-sigs/karpenter/issues/1265",
		Reason:   "a pod that prefers nodes of no pool is taken for one that requires them",
		Breaks:   []string{"^waited for 1 pod"},
	}},
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().Label(team, "red")
		app := fixtures.Deployment(1).Select(team, "red").Prefer(1, karpenter.NodePoolLabel, fixtures.DoesNotExist)
		launchOnce(ctx, env, pool, app)
	},
})

// launchOnce creates a pool and pods that need one node of it, and claims that they get just that.
func launchOnce(ctx context.Context, env *e2e.Env, pool *fixtures.Pool, app *fixtures.Workload) {
	before := env.Mark()
	env.Create(ctx, pool, app)
	env.Await(ctx, 1, check.RunningPods(app))

	env.Expect(env.Since(before), check.Always(check.AtMost(1, check.NodeClaims(pool))))
}
