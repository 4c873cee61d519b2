package static

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// When a static pool shrinks, it removes nodes last if their pods must not be disrupted.
// Their work goes on while there are other nodes.
//
// Source: designs/static-capacity.md, "Deprovisioning Controller"; Karpenter's regression
// suite, "should terminate empty nodes first, then nodes with least cost, then respect
// do-not-disrupt".
var _ = Suite.Add(e2e.Spec{
	Name: "removes nodes whose pods must not be disrupted last",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().Replicas(3)
		passing := fixtures.Deployment(2).On(pool).OnePodPerNode()
		lasting := fixtures.Deployment(1).On(pool).PodAntiAffinity(passing, corev1.LabelHostname).
			Annotate(karpenter.DoNotDisruptAnnotation, "true")
		env.Create(ctx, pool)
		env.Await(ctx, 3, check.InitializedNodeClaims(pool))
		env.Create(ctx, passing)
		env.Await(ctx, 2, check.RunningPods(passing))
		env.Create(ctx, lasting)
		env.Await(ctx, 1, check.RunningPods(lasting))

		before := env.Mark()
		env.Change(ctx, pool.Replicas(1))
		env.Await(ctx, 1, check.Nodes(pool))

		env.Expect(env.Since(before),
			check.Always(check.Exactly(1, check.RunningPods(lasting).Old(before))),
			check.LeadsTo(check.AtLeast(1, check.DisruptedNodes(pool)), check.Exactly(1, check.Nodes(pool))))
		env.Delete(ctx, lasting) // its node would be drained for ever
		removeNodes(ctx, env, pool)
	},
})
