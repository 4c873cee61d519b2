package repair

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A node that says do-not-repair is left alone, unhealthy or not, until it no longer says
// so: whoever looks for the cause of a fault needs the node that has it.
//
// Source: annotation karpenter.sh/do-not-repair; designs/node-repair-veto.md; Karpenter's
// regression suite, "does not repair a node carrying the do-not-repair annotation".
var _ = Suite.Add(e2e.Spec{
	Name:  "leaves nodes with the annotation do-not-repair alone",
	Since: voluntary(),
	Run: func(ctx context.Context, env *e2e.Env) {
		vetoed, other := fixtures.NodePool().Annotation(doNotRepair, "true"), fixtures.NodePool()
		kept := env.Launch(ctx, 1, vetoed, fixtures.Deployment(1).On(vetoed))
		gone := env.Launch(ctx, 1, other, fixtures.Deployment(1).On(other))

		before := env.Mark()
		env.MakeUnhealthy(ctx, kept[0], gone[0])
		env.Await(ctx, 0, check.Nodes(other).Old(before))
		waited, lifted := env.Since(before), env.Mark()
		env.RemoveAnnotation(ctx, kept[0], doNotRepair)
		env.Await(ctx, 0, check.Nodes(vetoed).Old(before))

		env.Expect(waited, sparesAll(env, vetoed), repaired(env, other))
		env.Expect(env.Since(lifted), repairedOnceDisrupted(env, vetoed))
	},
})

// doNotRepair is the annotation of nodes that are not to be repaired (Karpenter:
// pkg/apis/v1/labels.go).
const doNotRepair = karpenter.Group + "/do-not-repair"
