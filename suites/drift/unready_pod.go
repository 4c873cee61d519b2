package drift

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A pod that isn't ready holds no drifted node if its PodDisruptionBudget lets such pods be
// evicted. The pod serves nobody, and a broken application would keep its node outdated
// until somebody repairs it. A ready pod of this budget would hold the node.
//
// Source: unhealthyPodEvictionPolicy of the policy/v1 PodDisruptionBudget API;
// https://github.com/kubernetes-sigs/karpenter/issues/454.
var _ = Suite.Add(e2e.Spec{
	Name: "replaces nodes whose pods aren't ready if their PodDisruptionBudget lets such pods go",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app := fixtures.Deployment(1).On(pool)
		env.Create(ctx, pool, app.MinAvailable(1).EvictUnready(), app)
		env.PatchStatus(ctx, env.Await(ctx, 1, check.RunningPods(app))[0], unready)
		env.Await(ctx, 1, check.InitializedNodeClaims(pool))

		before := env.Mark()
		env.Change(ctx, pool.NewTemplate())
		env.Await(ctx, 1, check.RunningPods(app).On(check.ReplacedNodes(pool, before)))
		env.Await(ctx, 0, check.Nodes(pool).Old(before))

		env.Expect(env.Since(before), check.ActsOnDrift(pool))
	},
})

// unready is a kubelet's status patch of a running pod that isn't ready.
const unready = `{"status":{"conditions":[
	{"type":"PodScheduled","status":"True"}, {"type":"Ready","status":"False"}]}}`
