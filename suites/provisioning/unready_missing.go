package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A pool launches nothing while its NodeClass doesn't exist. It serves waiting pods once
// it refers to an existing NodeClass. Users mistype names, or create pools before
// NodeClasses.
//
// Source: spec.template.spec.nodeClassRef of the NodePool API; condition
// NodeClassReady.
var _ = Suite.Add(e2e.Spec{
	Name: "launches nothing while the NodeClass doesn't exist",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().NodeClassCalled("nowhere")
		app := fixtures.Deployment(1).On(pool)

		before := env.Mark()
		env.Create(ctx, pool, app)
		env.Observe(ctx, karpenter.Settled)
		missing := env.Since(before)
		env.Change(ctx, pool.OwnNodeClass())
		env.Await(ctx, 1, check.RunningPods(app))

		env.Expect(missing, passedOver(pool, app))
		env.Expect(env.Since(before), check.Always(check.AtMost(1, check.NodeClaims(pool))))
	},
})
