package cloud

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// Karpenter drains and replaces all affected nodes in time when the cloud takes back
// several spot instances at once. The pool's budget, which allows no disruption, limits
// only disruptions that Karpenter chooses. A node that waited for its turn would be gone
// with its pods before its drain.
//
// Source: https://karpenter.sh/docs/concepts/disruption, "Automated Forceful Methods",
// which "blow past NodePool Disruption Budgets", and "Interruption".
var _ = Suite.Add(e2e.Spec{
	Name:   "drains all spot nodes whose end the cloud announces, whatever budgets say",
	Needs:  []providers.Capability{providers.NodePools, providers.Interruption, providers.Spot},
	Hooks:  []providers.HookName{providers.Interrupt},
	Within: 5 * time.Minute,
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().Budget("0").CapacityType(karpenter.Spot)
		app := fixtures.Deployment(2).OnePodPerNode().On(pool)
		nodes := env.Launch(ctx, 2, pool, app)

		before := env.Mark()
		env.Hook(ctx, providers.Interrupt, e2e.About(nodes[0]))
		env.Hook(ctx, providers.Interrupt, e2e.About(nodes[1]))
		env.Await(ctx, 0, check.NodeClaims(pool).Old(before))
		env.Await(ctx, 2, check.RunningPods(app).On(check.ReplacedNodes(pool, before)))

		env.Expect(env.Since(before),
			check.Within(soon,
				check.LeadsTo(check.AtLeast(2, check.NodeClaims(pool).Deleting()), check.None(check.Nodes(pool).Old(before)))),
			check.LeadsTo(check.None(check.Nodes(pool).Old(before)), check.Exactly(2, check.RunningPods(app))),
			check.Always(check.AtMost(2, check.NodeClaims(pool).New(before))))
	},
})

// soon is more than the drain of a node with quick pods and the end of its instance take. It
// is at most the notice of clouds, which is 30 s for some.
const soon = 30 * time.Second
