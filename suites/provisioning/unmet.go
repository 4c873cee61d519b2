package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter does not ignore required pod affinity or topology spread. If they cannot be
// met, an event says so. No node is launched, because it would stay empty. Another pod
// still gets its node.
//
// Source: podAffinity and topologySpreadConstraints, whenUnsatisfiable DoNotSchedule,
// of the Pod API; https://karpenter.sh/docs/concepts/scheduling.
var _ = e2e.Table(Suite, map[string]wish{
	"pod-affinity": {"be near pods that don't exist", func(w *fixtures.Workload) *fixtures.Workload {
		return w.PodAffinity(fixtures.Pod(), rack)
	}},
	"topology-spread": {"be spread over a label that no node has", func(w *fixtures.Workload) *fixtures.Workload {
		return w.Spread(fixtures.TopologySpread(nowhere))
	}},
}, func(p wish) e2e.Spec {
	return e2e.Spec{
		Name: "launches nothing for pods that must " + p.says,
		Run: func(ctx context.Context, env *e2e.Env) {
			pool := fixtures.NodePool().Label(rack, "only")
			hopeless, modest := p.of(fixtures.Deployment(1).On(pool)), fixtures.Deployment(1).On(pool)

			before := env.Mark()
			env.Create(ctx, pool, hopeless)
			env.AwaitAtLeast(ctx, 1, decisions(hopeless, pool, env.Mark()))
			alone := env.Since(before)
			env.Create(ctx, modest)
			env.Await(ctx, 1, check.RunningPods(modest))

			env.Expect(alone, passedOver(pool, hopeless))
			env.Expect(env.Since(before), check.Always(check.AtMost(1, check.NodeClaims(pool))),
				check.Always(check.None(check.BoundPods(hopeless))))
		},
	}
})
