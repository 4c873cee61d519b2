package controls

import (
	"context"
	"time"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter ignores a do-not-disrupt value other than true or a duration, and replaces
// the pod's drifted node. No event would show a typing error that keeps nodes forever.
// The value "false" means false.
//
// Source: annotation karpenter.sh/do-not-disrupt;
// designs/do-not-disrupt-grace-period.md, "Invalid Values".
var _ = e2e.Table(Suite, map[string]string{"false": "false", "always": "always"}, func(value string) e2e.Spec {
	return e2e.Spec{
		Name:   "ignore a pod's annotation do-not-disrupt if its value is " + value,
		Within: within,
		Run: func(ctx context.Context, env *e2e.Env) {
			pool := fixtures.NodePool()
			app := fixtures.Deployment(1).On(pool).Annotate(karpenter.DoNotDisruptAnnotation, value)
			env.Launch(ctx, 1, pool, app)

			before := env.Mark()
			env.Change(ctx, pool.NewTemplate())
			env.Await(ctx, 1, check.RunningPods(app).On(check.ReplacedNodes(pool, before)))
			env.Await(ctx, 0, check.Nodes(pool).Old(before))

			env.Expect(env.Since(before), check.ActsOnDrift(pool),
				check.Always(check.Each(check.PodsOf(app), "say "+value, check.Annotated(karpenter.DoNotDisruptAnnotation, value))))
		},
	}
})

// within bounds these specs. They take half a minute if nothing holds a node.
const within = 90 * time.Second
