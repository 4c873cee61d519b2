package provisioning

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// choice is a label by which pods select their nodes.
type choice struct{ what, key string }

// Pods that select a well-known label or a label of the NodePool get nodes that have it.
// The NodeClaim requires the value, so that the provider obeys it. Karpenter skips a pool
// that excludes the value, whatever its weight. The spec takes the value from the node of
// a pod without this selector.
//
// Source: https://karpenter.sh/docs/concepts/scheduling, "Selecting nodes" and
// "Well-Known Labels"; NodeClaim spec.requirements.
var _ = e2e.Table(Suite, map[string]choice{
	"zone":             {"a zone", corev1.LabelTopologyZone},
	"architecture":     {"an architecture", corev1.LabelArchStable},
	"operating-system": {"an operating system", corev1.LabelOSStable},
	"capacity-type":    {"a capacity type", karpenter.CapacityTypeLabel},
	"instance-type":    {"an instance type", corev1.LabelInstanceTypeStable},
	"pool-label":       {"a label of the pool", team},
}, func(c choice) e2e.Spec {
	return e2e.Spec{
		Name: "gives pods that select " + c.what + " nodes that have it",
		Run: func(ctx context.Context, env *e2e.Env) {
			sample := fixtures.NodePool().Label(team, "red")
			scout := fixtures.Deployment(1).On(sample)
			env.Create(ctx, sample, scout)
			env.Await(ctx, 1, check.RunningPods(scout))
			value := karpenter.Label(env.Await(ctx, 1, check.ReadyNodes(sample))[0].Unstructured(), c.key)

			excluding, open := rivalPools()
			excluding.Require(c.key, fixtures.NotIn, value)
			app := rivalDeployment(excluding).Select(c.key, value)
			before := env.Mark()
			env.Create(ctx, excluding, open.Label(team, "red"), app)
			env.Await(ctx, 2, check.RunningPods(app))

			env.Expect(env.Since(before), passedOver(excluding, app),
				check.Always(check.Each(check.NodeClaims(open), "require "+value, check.Requiring(c.key, value))),
				check.Always(check.Each(check.ReadyNodes(open), "are "+value, check.Labeled(c.key, value))))
		},
	}
})
