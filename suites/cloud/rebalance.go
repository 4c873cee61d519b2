package cloud

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// A node stays when the cloud only reports that its instance is likelier to be
// interrupted. The interruption may never happen, and pods would move all day at such
// reports. Here another node's interruption is announced right after. Karpenter acts on
// it, which shows that reports arrive.
//
// Source: https://karpenter.sh/docs/concepts/disruption, "Interruption": there is no taint,
// drain and terminate logic for rebalance recommendations.
var _ = Suite.Add(e2e.Spec{
	Name:   "loses no node when the cloud recommends a rebalance",
	Needs:  []providers.Capability{providers.NodePools, providers.Interruption, providers.Spot},
	Hooks:  []providers.HookName{providers.Rebalance, providers.Interrupt},
	Within: 5 * time.Minute,
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().CapacityType(karpenter.Spot)
		app := fixtures.Deployment(2).OnePodPerNode().On(pool)
		nodes := env.Launch(ctx, 2, pool, app)
		likely, interrupted := nodes[0], nodes[1]

		before := env.Mark()
		env.Hook(ctx, providers.Rebalance, e2e.About(likely))
		env.Hook(ctx, providers.Interrupt, e2e.About(interrupted))
		env.Await(ctx, 0, onlyNode(check.Nodes(pool), interrupted))
		env.Await(ctx, 2, check.RunningPods(app))
		env.Observe(ctx, karpenter.PodsRetried)

		env.Expect(env.Since(before),
			check.LeadsTo(check.AtLeast(1, onlyNode(check.DisruptedNodes(pool), interrupted)),
				check.None(onlyNode(check.Nodes(pool), interrupted))),
			check.Always(check.Exactly(1, onlyNode(check.ReadyNodes(pool), likely))),
			check.Always(check.None(onlyNode(check.DisruptedNodes(pool), likely).AmongObjects(check.Nodes(pool)))),
			check.Always(check.AtMost(1, check.NodeClaims(pool).New(before))))
	},
})

// onlyNode narrows a count of nodes to a single node.
func onlyNode(c check.Count, node *history.Object) check.Count {
	return c.With("called "+node.Name, func(o *unstructured.Unstructured) bool { return o.GetName() == node.Name })
}
