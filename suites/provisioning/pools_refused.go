package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A NodePool is passed over if the API server refuses the NodeClaims that are made from it, and pods get
// nodes of another one. Somebody has made a mistake in one NodePool, and pods that fit another needn't wait
// until it is found. Here the name of an annotation has a space.
//
// Source: condition ValidationSucceeded of the NodePool API;
// https://kubernetes.io/docs/concepts/overview/working-with-objects/annotations, "Syntax and character set".
var _ = Suite.Add(e2e.Spec{
	Name: "launches from another pool if a pool's NodeClaims can't be created",
	Known: []e2e.Known{{
		Releases: ">=1.0.0 <=1.15.0", // seen in v1.14.3 and v1.15.0; the source is the same in v1.0.8
		Issue:    e2e.Finding("karpenter-nodepools-whose-nodeclaims-are-refused"),
		Reason:   "NodePools are ready although their NodeClaims can't be created, and are tried again and again",
		Breaks:   []string{"^waited for 1 pod", "pods that wait fit on no node that could be launched"},
	}},
	Run: func(ctx context.Context, env *e2e.Env) {
		group := fixtures.Key("group")
		pool, wrong := fixtures.NodePool().Label(group, "one"), fixtures.NodePool().Label(group, "one").Weight(50)
		app := fixtures.Deployment(1).Select(group, "one")

		before := env.Mark()
		env.Create(ctx, pool, wrong.Annotation("cost center", "42"), app)
		env.Await(ctx, 1, check.RunningPods(app))

		env.Expect(env.Since(before), check.LeadsTo(check.AtLeast(1, check.PodsOf(app)),
			check.AtLeast(1, check.RunningPods(app).On(check.Nodes(pool)))))
	},
})
