package expiration

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Without a terminationGracePeriod, Karpenter drains an expired node for as long as a pod
// on it must not be disrupted. Expiration alone forces nothing, so jobs that take days
// can finish. The node goes once the pod may be disrupted.
//
// Source: designs/forceful-expiration.md: "respect pod do-not-disrupt or PDB
// blocking pods until the node's TerminationGracePeriod is reached".
var _ = Suite.Add(e2e.Spec{
	Name: "waits for a pod that must not be disrupted if there is no terminationGracePeriod",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().ExpireAfter(ttl.String())
		app := fixtures.Pod().On(pool).Annotate(karpenter.DoNotDisruptAnnotation, "true")
		env.Create(ctx, pool, app)
		pod := env.Await(ctx, 1, check.RunningPods(app))[0]

		before := env.Mark()
		draining := check.Nodes(pool).Deleting()
		env.Await(ctx, 1, draining)
		env.Observe(ctx, 3*karpenter.Settled)
		waiting := env.Since(before)
		env.RemoveAnnotation(ctx, pod, karpenter.DoNotDisruptAnnotation)
		env.Await(ctx, 0, check.Nodes(pool))

		env.Expect(waiting, expires(pool), check.While(draining, check.Exactly(1, check.RunningPods(app).On(draining))))
	},
})
