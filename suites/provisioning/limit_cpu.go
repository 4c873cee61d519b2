package provisioning

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// A pool's nodes never have more CPUs together than its limit, even when one
// batch asks for more: a limit is what stands between a typing error in a
// replica count and the bill. It is used, and lifting it lets the rest in.
//
// Source: spec.limits of the NodePool API.
var _ = Suite.Add(e2e.Spec{
	Name:  "never exceeds a limit of CPUs",
	Needs: []providers.Capability{providers.NodePools},
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().Limit("cpu", "4")
		app := fixtures.Deployment(6).On(pool).CPU("1").OnePodPerNode()

		before := env.Now()
		env.Create(ctx, pool, app)
		env.AwaitAtLeast(ctx, 1, check.RunningPods(app))
		env.Watch(ctx, retried)
		limited := env.Since(before)
		env.Change(ctx, pool.Limit("cpu", "100"))
		env.Await(ctx, 6, check.RunningPods(app))

		env.Expect(limited, check.Always(check.AtMostQuantity(resource.MustParse("4"), check.ClaimedCapacity(pool, corev1.ResourceCPU))))
	},
})
