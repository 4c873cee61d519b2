package upgrade

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// gracePeriodOver is longer than an upgrade takes, after halfOver.
const (
	gracePeriodOver = 6 * time.Minute
	halfOver        = gracePeriodOver / 2
)

// A drain with a terminationGracePeriod ends at the deadline that the old release set, neither
// earlier nor later. Jobs rely on the time that is left to them, and administrators on the
// end. The deadline must not begin anew with each controller.
//
// Source: designs/nodeclaim-termination-grace-period.md; annotation
// karpenter.sh/nodeclaim-termination-timestamp.
var _ = Suite.Add(e2e.Spec{
	Name:   "ends a drain at the deadline that the old release set",
	Within: 12 * time.Minute,
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().TerminationGracePeriod(gracePeriodOver.String())
		app := fixtures.Deployment(1).On(pool).Annotate(karpenter.DoNotDisruptAnnotation, "true")
		node := check.Node(env.Launch(ctx, 1, pool, app)[0].Name)
		nodeClaim := env.Await(ctx, 1, check.InitializedNodeClaims(pool))[0]

		before := env.Mark()
		env.Delete(ctx, nodeClaim)
		env.Await(ctx, 1, node.Deleting())
		env.Observe(ctx, halfOver) // so that a deadline that begins anew is much later
		env.Upgrade(ctx)
		env.Observe(ctx, takenOver)
		upgraded := env.Since(before)
		env.Await(ctx, 0, check.The(nodeClaim))

		env.Expect(upgraded, check.Always(check.Exactly(1, check.RunningPods(app).On(node))))
		env.Expect(env.Since(before), check.Within(gracePeriodOver+karpenter.InstanceEnded,
			check.LeadsTo(check.AtLeast(1, node.Deleting()), check.None(node))))
	},
})
