package nodeclaim

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// A NodeClaim that excludes a value of a label gets a node with another one. Requirements that
// Karpenter makes for pods mostly list the values that are allowed. Those of users and of static
// pools may list the ones that aren't: an instance type that is too old, a zone in trouble. A
// provider that takes such a list for a choice launches the only wrong ones.
//
// Source: spec.requirements of the NodeClaim API, operator NotIn; Karpenter:
// pkg/cloudprovider/types.go, Create, "launches a NodeClaim with the given resource requests and
// requirements".
var _ = e2e.Table(Suite, map[string]excluded{
	"instance-type": {what: "an instance type", key: corev1.LabelInstanceTypeStable},
	"zone":          {what: "a zone", key: corev1.LabelTopologyZone, needs: []providers.Capability{providers.Zones}},
	"capacity-type": {
		what: "a capacity type", key: karpenter.CapacityTypeLabel, needs: []providers.Capability{providers.Spot},
	},
}, func(row excluded) e2e.Spec {
	return e2e.Spec{
		Name:  "gets a node without " + row.what + " that it excludes",
		Needs: row.needs,
		Run: func(ctx context.Context, env *e2e.Env) {
			sample := fixtures.NodeClaim()
			env.Create(ctx, sample)
			value := karpenter.Label(env.Await(ctx, 1, check.The(sample).In(karpenter.Initialized))[0].Unstructured(), row.key)
			nodeClaim := fixtures.NodeClaim().Require(row.key, fixtures.NotIn, value)
			nodes := newNodes(env, nodeClaim)

			before := env.Mark()
			env.Create(ctx, nodeClaim)
			env.Await(ctx, 1, check.The(nodeClaim).In(karpenter.Initialized))

			env.Expect(env.Since(before), check.Always(check.None(nodes.With("that are "+value, check.Labeled(row.key, value)))))
		},
	}
})

// excluded is a label of which a NodeClaim excludes a value. Providers offer another value if they have
// the capabilities in needs.
type excluded struct {
	what, key string
	needs     []providers.Capability
}
