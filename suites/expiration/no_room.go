package expiration

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A node expires even if its pool is full, so that Karpenter can't replace it. Expiration
// doesn't wait, because a cluster at its limits would then keep its oldest nodes forever.
// The pods run again once there is room.
//
// Source: designs/forceful-expiration.md, "without waiting for replacement nodes
// to initialize before draining pods".
var _ = Suite.Add(e2e.Spec{
	Name: "comes although there is no room for a replacement",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().ExpireAfter(ttl.String())
		app := fixtures.Deployment(1).On(pool)
		env.Create(ctx, pool, app)
		env.Await(ctx, 1, check.RunningPods(app))

		before := env.Mark()
		env.Change(ctx, pool.Limit("cpu", "0"))
		env.Observe(ctx, ttl+late)
		full := env.Since(before)
		env.Change(ctx, pool.Limit("cpu", "1000"))
		env.Await(ctx, 1, check.RunningPods(app).On(check.ReplacedNodes(pool, before)))

		closed := check.AtLeast(1, check.Where("pools that may launch nothing", karpenter.NodePools, mayLaunchNothing))
		env.Expect(full, expires(pool),
			check.LeadsTo(check.AllOf(closed, check.AtLeast(1, check.Nodes(pool).Old(before))),
				check.None(check.Nodes(pool).Old(before))),
			check.Always(check.When(closed, check.None(check.NodeClaims(pool).New(before)))))
	},
})

func mayLaunchNothing(pool *unstructured.Unstructured) bool {
	cpus, _, _ := unstructured.NestedString(pool.Object, "spec", "limits", "cpu")
	return cpus == "0"
}
