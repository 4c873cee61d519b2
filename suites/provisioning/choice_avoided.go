package provisioning

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// avoidance is a label with a value that pods exclude. Providers offer another value if they
// have the capabilities in needs.
type avoidance struct {
	choice
	needs []providers.Capability
}

// Pods that exclude a label value by required node affinity get nodes with another value.
// Karpenter skips a NodePool that has no other value, whatever its weight. Pods that
// leave a zone in trouble must not be sent back to it. The spec takes the value from the
// node of a pod without this affinity.
//
// Source: https://karpenter.sh/docs/concepts/scheduling, "Node affinity" and
// "Well-Known Labels".
var _ = e2e.Table(Suite, map[string]avoidance{
	"zone":          {choice{"a zone", corev1.LabelTopologyZone}, []providers.Capability{providers.Zones}},
	"capacity-type": {choice{"a capacity type", karpenter.CapacityTypeLabel}, []providers.Capability{providers.Spot}},
	"instance-type": {choice{"an instance type", corev1.LabelInstanceTypeStable}, nil},
	"pool-label":    {choice{"a label of the pool", team}, nil},
}, func(a avoidance) e2e.Spec {
	return e2e.Spec{
		Name:  "gives pods that exclude " + a.what + " nodes that don't have it",
		Needs: append([]providers.Capability{providers.NodePools}, a.needs...),
		Run: func(ctx context.Context, env *e2e.Env) {
			kind := karpenter.CapacityTypeLabel
			sample := fixtures.NodePool().Label(team, "red")
			scout := fixtures.Deployment(1).On(sample)
			env.Create(ctx, sample, scout)
			env.Await(ctx, 1, check.RunningPods(scout))
			value := karpenter.Label(env.Await(ctx, 1, check.ReadyNodes(sample))[0].Unstructured(), a.key)

			excluded, open := rivalPools()
			excluded.Require(a.key, fixtures.In, value)
			open.Label(team, "blue").Require(kind, fixtures.Exists)
			app := rivalDeployment(excluded).Require(a.key, fixtures.NotIn, value)
			before := env.Mark()
			env.Create(ctx, excluded, open, app)
			env.Await(ctx, 2, check.RunningPods(app))

			env.Expect(env.Since(before), passedOver(excluded, app),
				check.Always(check.None(check.Nodes(open).With("that are "+value, check.Labeled(a.key, value)))),
				check.EndsWith(app, check.Exactly(2, check.ReadyNodes(open))))
		},
	}
})
