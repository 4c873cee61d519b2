package chaos

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A controller that is killed during a drain continues it after the restart. Pods that
// must not be evicted yet stay. Once they may be evicted, they, the node and its
// NodeClaim are removed. A drain that never ends costs money for an unused node. A drain
// that is cut short is an outage.
//
// Source: https://karpenter.sh/docs/concepts/disruption, "Termination Controller";
// the finalizer karpenter.sh/termination.
var _ = Suite.Add(e2e.Spec{
	Name:   "neither shortens nor loses a drain when its controller is killed during drains",
	Within: 3 * time.Minute,
	Run: func(ctx context.Context, env *e2e.Env) {
		pool, other := fixtures.NodePool().TerminationGracePeriod("1h"), fixtures.NodePool()
		app, late := fixtures.Deployment(1).On(pool), fixtures.Deployment(1).On(other)
		guard := app.MinAvailable(1)
		env.Create(ctx, pool, other, app, guard)
		env.Await(ctx, 1, check.RunningPods(app))

		before := env.Mark()
		env.Change(ctx, pool.NewTemplate())
		draining := check.Nodes(pool).Deleting()
		node := check.Node(env.Await(ctx, 1, draining)[0].Name)
		env.KillController(ctx)
		env.Create(ctx, late)
		env.Await(ctx, 1, check.RunningPods(late))
		env.Expect(env.Since(before), check.Finally(check.AtLeast(1, check.RunningPods(app).On(node))))

		env.Delete(ctx, guard)
		env.Await(ctx, 0, check.NodeClaims(pool).Old(before))
		env.Await(ctx, 1, check.RunningPods(app))
		env.Expect(env.Since(before), check.Always(check.AtMost(2, check.NodeClaims(pool))),
			check.LeadsTo(check.AtLeast(1, draining), check.None(draining)))
	},
})
