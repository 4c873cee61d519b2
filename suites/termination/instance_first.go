package termination

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter keeps a node until its instance is being terminated, and a NodeClaim until
// its node is gone. If an object is gone while its machine runs on, nobody knows of the
// machine. Users pay until somebody finds it.
//
// Source: finalizer karpenter.sh/termination and condition InstanceTerminating of
// the NodeClaim API; Karpenter's regression suite, "should terminate the node and
// the instance on deletion".
var _ = Suite.Add(e2e.Spec{
	Name: "ends the instance before the node, and the node before its NodeClaim",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app := fixtures.Pod().On(pool).Lingering()
		launchNode(ctx, env, pool)
		env.Create(ctx, app)
		env.Await(ctx, 1, check.RunningPods(app))

		before := env.Mark()
		deleteNodeClaim(ctx, env, pool)
		releasePod(ctx, env, app, turn)
		env.Await(ctx, 0, check.NodeClaims(pool).Old(before))

		deleting := check.AtLeast(1, check.NodeClaims(pool).Deleting())
		env.Expect(env.Since(before), nodesGoAfterDrain(pool),
			check.While(check.Nodes(pool).Deleting(), check.Exactly(1, check.NodeClaims(pool).Old(before))))
		// A controller that dies in between has ended the instance, and said so nowhere.
		env.ExpectUndisturbed(env.Since(before),
			check.Always(check.When(deleting, check.AnyOf(
				check.Exactly(1, check.Nodes(pool).Old(before)), check.AtLeast(1,
					check.NodeClaims(pool).In(karpenter.InstanceTerminating))))))
	},
})
