package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter launches a node such as a pod prefers, although another one with room is starting. The
// pod's wish comes before an unused rest of a node. Here a startup taint keeps the other node
// starting all the time.
//
// Source: https://karpenter.sh/docs/concepts/scheduling, "Preferences": "Karpenter will treat
// preferences as required first".
var _ = Suite.Add(e2e.Spec{
	Name: "follows a pod's preference although another node with room is starting",
	Run: func(ctx context.Context, env *e2e.Env) {
		other, wished := rivalPools()
		group, starting := fixtures.Key("group"), fixtures.Key("starting")
		first := fixtures.Deployment(1).On(other)
		app := fixtures.Deployment(1).Select(group, other.GetName()).Prefer(1, size, fixtures.In, "3")

		before := env.Mark()
		env.Create(ctx, other.Label(size, "5").StartupTaint(starting, fixtures.NoSchedule), wished.Label(size, "3"), first)
		env.Await(ctx, 1, check.StartingNodes(other, starting))
		env.Create(ctx, app)
		env.Await(ctx, 1, check.RunningPods(app))

		env.Expect(env.Since(before), check.Always(check.AtMost(1, check.NodeClaims(other))),
			check.LeadsTo(check.AtLeast(1, check.PodsOf(app)), check.AtLeast(1, check.NodeClaims(wished))))
	},
})
