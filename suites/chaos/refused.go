package chaos

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter gives each pod one node after a quota or a webhook refused the pool's
// NodeClaims for a while. The pods wait meanwhile. Karpenter tries again, because nobody
// creates the pods again. It launches no extra nodes for failed attempts.
//
// Source: https://karpenter.sh/docs/concepts/scheduling: pods are provisioned for as
// long as they are pending; spec.template of the NodePool API.
var _ = Suite.Add(e2e.Spec{
	Name: "gives each pod a node after its NodeClaims were refused for a while",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app := fixtures.Deployment(2).OnePodPerNode().On(pool)
		policy, binding := fixtures.RefusedNodeClaims(pool)
		env.Create(ctx, pool)
		env.Enforce(ctx, policy, binding)

		before := env.Mark()
		env.Create(ctx, app)
		env.Observe(ctx, karpenter.PodsRetried)
		env.Expect(env.Since(before), check.Always(check.None(check.NodeClaims(pool).AmongObjects(check.PodsOf(app)))))
		env.Delete(ctx, binding)
		env.Await(ctx, 2, check.RunningPods(app))
		env.Expect(env.Since(before), check.Always(check.AtMost(2, check.NodeClaims(pool))))
	},
})
