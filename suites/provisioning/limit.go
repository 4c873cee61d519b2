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

// The nodes of a NodePool together never exceed its limit of a resource, even when one
// batch requests more. A limit prevents the cost of a typing error in a replica count.
// Pods run within the limit, and the rest run when it is raised. Other limits are far away.
//
// Source: spec.limits of the NodePool API.
var _ = e2e.Table(Suite, map[string]limit{
	"cpu":    {"CPUs", corev1.ResourceCPU, "1", "4", "100"},
	"memory": {"memory", corev1.ResourceMemory, "2Gi", "8Gi", "1Ti"},
}, func(row limit) e2e.Spec {
	return e2e.Spec{
		Name: "never exceeds a limit of " + row.what,
		Run: func(ctx context.Context, env *e2e.Env) {
			pool := fixtures.NodePool().Limit("cpu", "1000").Limit("memory", "10Ti").Limit(string(row.name), row.at)
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

// limit is a limit of a resource. Six pods with a request of each exceed at. Later the limit
// is raised to lifted.
type limit struct {
	what             string
	name             corev1.ResourceName
	each, at, lifted string
}
