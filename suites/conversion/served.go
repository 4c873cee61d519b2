package conversion

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// Releases 1.0 serve NodePools and NodeClaims in v1beta1 and in v1, under the same names. Users, their
// pipelines and their dashboards can go on with v1beta1 until they have rewritten what they have.
//
// Source: "Migration Path" in designs/v1-api.md; the versions in the NodePool and NodeClaim CRDs.
var _ = Suite.Add(e2e.Spec{
	Name: "serves pools and NodeClaims in v1beta1 and in v1",
	Run: func(ctx context.Context, env *e2e.Env) {
		pools := metav1.APIResource{
			Name: "nodepools", SingularName: "nodepool", Kind: "NodePool", Categories: []string{"karpenter"},
		}
		nodeClaims := metav1.APIResource{
			Name: "nodeclaims", SingularName: "nodeclaim", Kind: "NodeClaim", Categories: []string{"karpenter"},
		}
		env.Serves(ctx, schema.GroupVersion{Group: karpenter.Group, Version: karpenter.V1Beta1}, pools, nodeClaims)
		env.Serves(ctx, karpenter.NodePools.GroupVersion(), pools, nodeClaims)
	},
})
