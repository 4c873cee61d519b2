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

// A NodeClass that says what the provider can't use concerns its own NodePools alone. Those of another
// NodeClass get their nodes as ever. A team's mistake must not stop the whole cluster.
//
// Source: pkg/cloudprovider/types.go, GetInstanceTypes: it is asked once for each NodePool, and one for
// which it fails is passed over (pkg/controllers/provisioning/provisioner.go, NewScheduler).
var _ = Suite.Add(e2e.Spec{
	Name:   "serves the pods of one NodeClass while another one says what the provider can't use",
	Needs:  []providers.Capability{providers.NodePools},
	Hooks:  []providers.HookName{providers.InvalidNodeClass},
	Within: 2 * time.Minute,
	Run: func(ctx context.Context, env *e2e.Env) {
		_, _, valid := env.AnotherNodeClass(ctx)
		pool, other := fixtures.NodePool(), fixtures.NodePool().NodeClassCalled(valid)
		app := fixtures.Deployment(1).On(other)
		env.Create(ctx, pool, other)
		env.Await(ctx, 2, check.The(pool, other).In(karpenter.Ready))

		before := env.Mark()
		env.Hook(ctx, providers.InvalidNodeClass)
		env.Create(ctx, app)
		env.Await(ctx, 1, check.RunningPods(app))

		env.Expect(env.Since(before),
			check.LeadsTo(check.AtLeast(1, check.PodsOf(app)), check.Exactly(1, check.RunningPods(app))))
	},
})
