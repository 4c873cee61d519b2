package taints

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// hard is an effect that keeps pods off.
type hard struct{ name, effect string }

// Pods that don't tolerate a taint of the template stay off the pool's nodes, although
// there is room. No node is launched for them. Users reserve GPU nodes in this way. Here
// the pods lack only the toleration.
//
// Source: spec.template.spec.taints of the NodePool API;
// https://karpenter.sh/docs/concepts/scheduling, "Taints and tolerations".
var _ = e2e.Table(Suite, map[string]hard{
	"no-schedule": {"of the template keep pods off that don't tolerate them", fixtures.NoSchedule},
	"no-execute":  {"with the effect NoExecute keep pods off that don't tolerate them", fixtures.NoExecute},
}, func(h hard) e2e.Spec {
	return e2e.Spec{
		Name: h.name,
		Run: func(ctx context.Context, env *e2e.Env) {
			reserved := fixtures.Key("reserved")
			pool := fixtures.NodePool().Taint(reserved, h.effect)
			invited := fixtures.Deployment(1).On(pool).Tolerate(reserved)
			stranger := fixtures.Deployment(1).On(pool)

			before := env.Mark()
			env.Create(ctx, pool, invited, stranger)
			env.Await(ctx, 1, check.RunningPods(invited))
			env.Observe(ctx, karpenter.Settled)
			refused := env.Since(before)
			env.Change(ctx, stranger.Tolerate(reserved))
			env.Await(ctx, 1, check.RunningPods(stranger))

			env.Expect(refused, check.Always(check.None(check.BoundPods(stranger))))
			env.Expect(env.Since(before),
				check.Always(check.AtMost(1, check.NodeClaims(pool))),
				check.Always(check.Each(check.RegisteredNodes(pool), "have the taint", check.TaintedWith(reserved, h.effect))))
		},
	}
})
