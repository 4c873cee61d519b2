package nodeclaim

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter leaves nodes alone that it hasn't launched. Such a node may have no provider
// ID, as on control planes and on machines at home, and a NodeClaim has none either
// during its launch. If Karpenter took one for the other, it would drain the node with
// the NodeClaim.
//
// Source: spec.providerID of the Node API; status.providerID of the NodeClaim API;
// https://github.com/kubernetes-sigs/karpenter/issues/2505.
var _ = Suite.Add(e2e.Spec{
	Name: "claims no node of others that has no provider ID",
	Known: []e2e.Known{{
		Releases: ">=1.6.0 <1.9.0", // seen in v1.6.4; v1.0.8 does not
		Issue:    "https://github.com/kubernetes-sigs/karpenter/issues/2505",
		Reason:   "a node without a provider ID gets the label of a NodeClaim that has none",
		Breaks:   []string{"have none of Karpenter's labels"},
	}},
	Run: func(ctx context.Context, env *e2e.Env) {
		node, nodeClaim := fixtures.UnmanagedNode(), fixtures.NodeClaim()
		policy, binding := fixtures.Unlaunched(nodeClaim)
		env.Enforce(ctx, policy, binding)
		env.Create(ctx, node)

		before := env.Mark()
		env.Create(ctx, nodeClaim)
		env.Await(ctx, 1, check.The(nodeClaim))
		env.Annotate(ctx, node, fixtures.Key("seen"), "true") // Karpenter looks at nodes that change
		env.Observe(ctx, karpenter.Settled)
		env.Delete(ctx, binding)
		env.Await(ctx, 1, check.The(nodeClaim).In(karpenter.Initialized))

		env.Expect(env.Since(before), check.While(check.The(nodeClaim),
			check.Each(check.The(node), "have none of Karpenter's labels", isUnlabeled)))
	},
})

// isUnlabeled tells whether a node has no label of Karpenter or of a provider.
func isUnlabeled(node *unstructured.Unstructured) bool {
	for label := range node.GetLabels() {
		if strings.HasPrefix(label, "karpenter.") {
			return false
		}
	}
	return true
}
