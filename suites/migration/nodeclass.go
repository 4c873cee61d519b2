package migration

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
)

// Karpenter replaces a NodePool's nodes when the NodePool refers to another NodeClass.
// Users roll out a new image, network or role by changing one line. Nodes of the old
// NodeClass do not stay.
//
// Source: spec.template.spec.nodeClassRef of the NodePool API, which is immutable
// but for its name; designs/v1beta1-api.md of Karpenter v0.32.
var _ = Suite.Add(e2e.Spec{
	Name:   "follows a pool to another NodeClass",
	Within: 3 * time.Minute,
	Run: func(ctx context.Context, env *e2e.Env) {
		app := workload()
		pool := poolFor(app)
		runOn(ctx, env, pool, app)
		_, _, class := env.AnotherNodeClass(ctx)

		before := env.Mark()
		env.Change(ctx, pool.NodeClassCalled(class))
		env.Await(ctx, pods, check.RunningPods(app).On(check.ReplacedNodes(pool, before)))
		env.Await(ctx, 0, check.NodeClaims(pool).Old(before))

		drifted := check.AtLeast(1, check.DriftedNodeClaims(pool))
		env.Expect(env.Since(before),
			check.LeadsTo(drifted,
				check.Exactly(pods, check.NodeClaims(pool).With("of NodeClass "+class, check.OfNodeClass(class)))),
			check.LeadsTo(drifted, check.None(check.NodeClaims(pool).Old(before))),
			check.Always(check.Each(check.NodeClaims(pool).New(before), "are of NodeClass "+class, check.OfNodeClass(class))))
	},
})
