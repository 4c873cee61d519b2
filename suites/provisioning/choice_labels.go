package provisioning

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// choice is a label by which pods choose their nodes.
type choice struct{ what, key string }

// Pods that select nodes by a well-known label, or by one of the pool's own, get
// nodes that have it; the NodeClaim says so, for the provider to obey; and a pool
// that excludes the value is passed over, however great its weight. Which value it
// is, is learned from a node that pods without a wish got.
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

			excluding, open := rivals()
			excluding.Require(c.key, fixtures.NotIn, value)
			app := among(excluding).Select(c.key, value)
			before := env.Mark()
			env.Create(ctx, excluding, open.Label(team, "red"), app)
			env.Await(ctx, 2, check.RunningPods(app))

			env.Expect(env.Since(before), passedOver(excluding, app),
				check.Always(check.Each(check.NodeClaims(open), "require "+value, check.Requiring(c.key, value))),
				check.Always(check.Each(check.ReadyNodes(open), "are "+value, check.Labeled(c.key, value))))
		},
	}
})
