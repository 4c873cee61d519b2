package deletioncost

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// The pods of a node that must not be disrupted have no deletion cost, and one that they had
// is removed. To empty a node that stays gains nothing. ReplicaSets choose these pods as they
// would without Karpenter.
//
// Source: designs/pod-deletion-cost-controller.md, "Not Disruptable".
var _ = Suite.Add(e2e.Spec{
	Name:   "are removed on a node that must not be disrupted",
	Within: within,
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := quietPool()
		app := fixtures.Deployment(2).On(pool).OnePodPerNode()
		nodes := env.Launch(ctx, 2, pool, app)
		env.Observe(ctx, ranked)
		protected, other := check.Node(nodes[0].Name), check.Node(nodes[1].Name)

		before := env.Mark()
		env.Annotate(ctx, nodes[0], karpenter.DoNotDisruptAnnotation, "true")
		env.Observe(ctx, ranked)

		env.Expect(env.Since(before),
			check.LeadsTo(check.Exactly(1, costing(app).On(protected)), check.None(costing(app).On(protected))),
			check.Finally(check.Exactly(1, costing(app).On(other))))
	},
})
