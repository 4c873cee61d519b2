package chaos

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter removes unusable nodes as fast as it launches new ones, whatever the policy.
// So only a few exist at a time. Here every node is tainted, so Karpenter launches one
// after another for a pod. When the pod tolerates the taint, one node is left. Users have
// paid for many nodes in such loops.
//
// Source: Karpenter's regression suite, "should not produce a runaway scale-up when
// consolidation is enabled" and "when emptiness is enabled".
var _ = e2e.Table(Suite, map[string]struct{ name, policy, after string }{
	"consolidation": {"consolidation", fixtures.WhenEmptyOrUnderutilized, "0s"},
	"emptiness":     {"emptiness", fixtures.WhenEmpty, "5s"},
}, func(r struct{ name, policy, after string }) e2e.Spec {
	return e2e.Spec{
		Name:   "launches no endless series of nodes by " + r.name + " while taints keep coming back",
		Within: 4 * time.Minute,
		Run: func(ctx context.Context, env *e2e.Env) {
			pool := fixtures.NodePool().ConsolidationPolicy(r.policy).ConsolidateAfter(r.after)
			app := fixtures.Deployment(1).On(pool)
			unwanted := corev1.Taint{Key: fixtures.Key("unwanted"), Effect: corev1.TaintEffectNoExecute}
			env.KeepTainted(ctx, check.Nodes(pool), unwanted)

			before := env.Mark()
			env.Create(ctx, pool, app)
			env.Observe(ctx, time.Minute)
			env.AwaitAtLeast(ctx, 1, check.Nodes(pool).New(env.Mark()))
			env.Expect(env.Since(before), check.Always(check.AtMost(10, check.Nodes(pool))))
			env.Change(ctx, app.Tolerate(unwanted.Key))
			env.Await(ctx, 1, check.RunningPods(app))
			env.Await(ctx, 1, check.Nodes(pool))
		},
	}
})
