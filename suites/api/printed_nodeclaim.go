package api

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// kubectl prints a NodeClaim's type, capacity, zone, node and readiness. With -o wide it
// also prints the instance's ID, the pool and the NodeClass. The columns lead users to
// the node and its machine.
//
// Source: additionalPrinterColumns of the NodeClaim CRD.
var _ = Suite.Add(e2e.Spec{
	Name: "prints a NodeClaim's type, capacity, zone and node, and wide its ID, pool and NodeClass",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		env.Create(ctx, pool, fixtures.Deployment(1).On(pool))
		ready := env.Await(ctx, 1, check.NodeClaims(pool).In(karpenter.Ready))[0]

		nodeClaim := ready.Unstructured()
		env.ExpectColumns(ctx, ready,
			e2e.Cell{Column: "Name", Text: nodeClaim.GetName()},
			e2e.Cell{Column: "Type", Text: karpenter.InstanceType(nodeClaim)},
			e2e.Cell{Column: "Capacity", Text: karpenter.Label(nodeClaim, karpenter.CapacityTypeLabel)},
			e2e.Cell{Column: "Zone", Text: karpenter.Label(nodeClaim, corev1.LabelTopologyZone)},
			e2e.Cell{Column: "Node", Text: karpenter.NodeClaimNode(nodeClaim)},
			e2e.Cell{Column: "Ready", Text: "True"},
			e2e.Cell{Column: "Age"},
			e2e.Cell{Column: "ID", Text: karpenter.NodeClaimProviderID(nodeClaim), Wide: true},
			e2e.Cell{Column: "NodePool", Text: pool.GetName(), Wide: true},
			e2e.Cell{Column: "NodeClass", Text: nodeClass(nodeClaim, "spec"), Wide: true})
	},
})

// nodeClass returns the name in the nodeClassRef at a path.
func nodeClass(o *unstructured.Unstructured, path ...string) string {
	name, _, _ := unstructured.NestedString(o.Object, append(path, "nodeClassRef", "name")...)
	return name
}
