package repair

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter repairs a node despite its do-not-disrupt annotation. The annotation prevents
// optional disruption, but a broken node does no work.
//
// Source: designs/making-node-repair-voluntary.md, "Veto"; Karpenter's regression suite,
// "ignores the do-not-disrupt annotation on the node".
var _ = Suite.Add(e2e.Spec{
	Name: "replaces an unhealthy node that must not be disrupted",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().Annotation(karpenter.DoNotDisruptAnnotation, "true")
		nodes := env.Launch(ctx, 1, pool, deployment(1, pool))

		before := env.Mark()
		env.MakeUnhealthy(ctx, nodes...)
		env.Await(ctx, 0, check.Nodes(pool).Old(before))

		protected := unhealthyNodes(env, pool).With("and must not be disrupted",
			check.Annotated(karpenter.DoNotDisruptAnnotation, "true"))
		env.Expect(env.Since(before), check.LeadsTo(check.AtLeast(1, protected), check.None(protected)))
	},
})
