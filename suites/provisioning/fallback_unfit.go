package provisioning

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter skips a NodePool that can't serve a pod, whatever its weight. It prefers this
// pool again as soon as that changes. The pod does not wait for it or suffer from its
// faults.
//
// Source: spec.weight of the NodePool API;
// https://karpenter.sh/docs/concepts/scheduling, "Weighted NodePools".
var _ = e2e.Table(Suite, map[string]unfitPool{
	"not-ready": {
		"isn't ready",
		func(pool *fixtures.Pool) { pool.NodeClassCalled("nowhere") },
		func(pool *fixtures.Pool) { pool.OwnNodeClass() },
	},
	"tainted": {
		"is tainted",
		func(pool *fixtures.Pool) { pool.Taint(team, fixtures.NoSchedule) },
		func(pool *fixtures.Pool) { pool.Untainted() },
	},
	"no-instance-types": {
		"has no instance types",
		func(pool *fixtures.Pool) { pool.Require(corev1.LabelInstanceTypeStable, fixtures.In, "none") },
		func(pool *fixtures.Pool) { pool.Require(corev1.LabelInstanceTypeStable, fixtures.Exists) },
	},
}, func(row unfitPool) e2e.Spec {
	return e2e.Spec{
		Name: "falls back to a lighter pool when the preferred one " + row.how,
		Run: func(ctx context.Context, env *e2e.Env) {
			group := fixtures.Key("group")
			preferred, spare := fixtures.NodePool().Weight(90), fixtures.NodePool().Weight(10)
			preferred.Label(group, preferred.GetName())
			spare.Label(group, preferred.GetName())
			row.spoil(preferred)
			app := fixtures.Deployment(1).Select(group, preferred.GetName()).OnePodPerNode()

			before := env.Mark()
			env.Create(ctx, preferred, spare, app)
			env.Await(ctx, 1, check.RunningPods(app))
			first := env.Since(before)
			row.restore(preferred)
			env.Change(ctx, preferred)
			env.Await(ctx, 1, check.The(preferred).In(karpenter.Ready))
			env.Change(ctx, app.Replicas(2))
			env.Await(ctx, 2, check.RunningPods(app))

			env.Expect(first, passedOver(preferred, app))
			env.Expect(env.Since(before),
				check.Always(check.AtMost(1, check.NodeClaims(preferred))),
				check.Always(check.AtMost(1, check.NodeClaims(spare))))
		},
	}
})

// unfitPool is a pool that can't serve a pod until it is repaired.
type unfitPool struct {
	how            string
	spoil, restore func(*fixtures.Pool)
}
