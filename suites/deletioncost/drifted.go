package deletioncost

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// The pods of a drifted node have a lower deletion cost than those of other nodes, even if
// they are dear to move. The node has to go anyway, for example for its old image. A workload
// that shrinks may empty it. Here its pod fits on no new node, so that drift can't replace it.
//
// Source: designs/pod-deletion-cost-controller.md, "Drifted".
var _ = Suite.Add(e2e.Spec{
	Name:   "are lower on a drifted node than on others",
	Within: within,
	Run: func(ctx context.Context, env *e2e.Env) {
		old, other := quietPool().Label(team, "red"), quietPool()
		outdated := fixtures.Deployment(1).On(old).Select(team, "red").Annotate(karpenter.DisruptionCostAnnotation, dear)
		current := fixtures.Deployment(1).On(other)
		env.Launch(ctx, 1, old, outdated)
		env.Launch(ctx, 1, other, current)

		before := env.Mark()
		env.Change(ctx, old.Label(team, "blue"))
		env.Await(ctx, 1, check.DriftedNodeClaims(old))
		env.Observe(ctx, ranked)

		env.Expect(env.Since(before), check.Finally(lessThan(current, outdated)),
			check.Always(check.None(check.DisruptedNodes(old))))
	},
})

// team is a label of nodes that a pod selects.
const team = fixtures.Domain + "/team"
