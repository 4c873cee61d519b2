package provisioning

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A pool's nodes never have more of a resource together than its limit, even when
// one batch asks for more: a limit is what stands between a typing error in a
// replica count and the bill. It is used, and lifting it lets the rest in.
//
// Source: spec.limits of the NodePool API.
var _ = e2e.Table(Suite, map[string]limit{
	"cpu":    {"CPUs", corev1.ResourceCPU, "1", "4", "100"},
	"memory": {"memory", corev1.ResourceMemory, "2Gi", "8Gi", "1Ti"},
}, func(row limit) e2e.Spec {
	return e2e.Spec{
		Name: "never exceeds a limit of " + row.what,
		Run: func(ctx context.Context, env *e2e.Env) {
			pool := fixtures.NodePool().Limit(string(row.name), row.at)
			app := fixtures.Deployment(6).On(pool).Request(string(row.name), row.each).OnePodPerNode()

			before := env.Mark()
			env.Create(ctx, pool, app)
			env.AwaitAtLeast(ctx, 1, check.RunningPods(app))
			env.Observe(ctx, karpenter.PodsRetried)
			limited := env.Since(before)
			env.Change(ctx, pool.Limit(string(row.name), row.lifted))
			env.Await(ctx, 6, check.RunningPods(app))

			env.Expect(limited,
				check.Always(check.AtMostQuantity(resource.MustParse(row.at), check.NodeClaimCapacity(pool, row.name))))
		},
	}
})

// A limit of a resource, of which six pods ask for more than that, each for so
// much, and one that it is lifted to.
type limit struct {
	what             string
	name             corev1.ResourceName
	each, at, lifted string
}
