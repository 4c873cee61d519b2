package static

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A static pool does not grow or shrink for the pods of another pool. Pods that fit on
// its nodes run there and launch nothing. Other pods get nodes of the other pool. Users
// combine reserved and spare capacity in this way.
//
// Source: designs/static-capacity.md, "Provisioning"; Karpenter's regression suite, "should
// provision dynamic nodeclaims when static nodeclaims cant satisfy pod constraints".
var _ = Suite.Add(e2e.Spec{
	Name: "leaves pods that don't fit on its nodes to other pools",
	Run: func(ctx context.Context, env *e2e.Env) {
		team := fixtures.Key("team")
		pool, other := fixtures.NodePool().Replicas(2).Label(team, "red"), fixtures.NodePool().Label(team, "red")
		app := fixtures.Deployment(2).Select(team, "red").OnePodPerNode()
		env.Create(ctx, pool, other)
		env.Await(ctx, 2, check.InitializedNodeClaims(pool))

		before := env.Mark()
		env.Create(ctx, app)
		env.Await(ctx, 2, check.RunningPods(app).On(check.Nodes(pool)))
		env.Observe(ctx, karpenter.Settled)
		fitting, more := env.Since(before), env.Mark()
		env.Change(ctx, app.Replicas(4))
		env.Await(ctx, 2, check.RunningPods(app).On(check.Nodes(other)))

		env.Expect(fitting, check.While(check.PodsOf(app), check.None(check.NodeClaims(other))))
		env.Expect(env.Since(more),
			check.Always(check.AtMost(2, check.NodeClaims(other))),
			check.Always(check.When(check.AtLeast(3, check.PodsOf(app)), check.Exactly(2, check.NodeClaims(pool)))),
			check.LeadsTo(check.AtLeast(4, check.PodsOf(app)), check.Exactly(2, check.RunningPods(app).On(check.Nodes(other)))))
		removeNodes(ctx, env, pool)
	},
})
