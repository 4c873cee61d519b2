package repair

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter does not repair a node with the annotation do-not-repair until the annotation
// is removed. Users need the faulty node to find the cause.
//
// Source: annotation karpenter.sh/do-not-repair; designs/node-repair-veto.md; Karpenter's
// regression suite, "does not repair a node carrying the do-not-repair annotation".
var _ = Suite.Add(e2e.Spec{
	Name:  "leaves nodes with the annotation do-not-repair alone",
	Since: voluntary(),
	Run: func(ctx context.Context, env *e2e.Env) {
		vetoed, other := fixtures.NodePool().Annotation(doNotRepair, "true"), fixtures.NodePool()
		kept := env.Launch(ctx, 1, vetoed, deployment(1, vetoed))
		gone := env.Launch(ctx, 1, other, deployment(1, other))

		before := env.Mark()
		env.MakeUnhealthy(ctx, kept[0], gone[0])
		env.Await(ctx, 0, check.Nodes(other).Old(before))
		waited, lifted := env.Since(before), env.Mark()
		env.RemoveAnnotation(ctx, kept[0], doNotRepair)
		env.Await(ctx, 0, check.Nodes(vetoed).Old(before))

		env.Expect(waited, sparesAll(env, vetoed), unhealthyNodesGo(env, other))
		env.Expect(env.Since(lifted), repairedOnceDisrupted(env, vetoed))
	},
})

// doNotRepair is the annotation that forbids repair (Karpenter: pkg/apis/v1/labels.go).
const doNotRepair = karpenter.Group + "/do-not-repair"
