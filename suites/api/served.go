package api

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// names lists resources and their names in the API.
type names struct {
	name, since string
	resources   []metav1.APIResource
}

// The API server serves pools and NodeClaims under the names that documents, scripts and
// people use: nodepool and nodepools. `kubectl get karpenter` lists both kinds. `kubectl
// scale` changes a static pool's replicas.
//
// Source: names, categories and subresources of the NodePool and NodeClaim CRDs.
var _ = e2e.Table(Suite, map[string]names{
	"names": {
		name: "serves pools and NodeClaims for all of the cluster, under their names and as karpenter",
		resources: []metav1.APIResource{
			{Name: "nodepools", SingularName: "nodepool", Kind: "NodePool", Categories: []string{"karpenter"}},
			{Name: "nodeclaims", SingularName: "nodeclaim", Kind: "NodeClaim", Categories: []string{"karpenter"}},
		},
	},
	"status": {
		name: "serves the status of pools and NodeClaims as a subresource",
		resources: []metav1.APIResource{
			{Name: "nodepools/status", Kind: "NodePool"},
			{Name: "nodeclaims/status", Kind: "NodeClaim"},
		},
	},
	"scale": {
		name: "serves the scale subresource of pools", since: "1.8",
		resources: []metav1.APIResource{{Name: "nodepools/scale", Kind: "Scale"}},
	},
}, func(row names) e2e.Spec {
	return e2e.Spec{Name: row.name, Since: e2e.Since{Karpenter: row.since}, Run: func(ctx context.Context, env *e2e.Env) {
		env.Serves(ctx, karpenter.NodePools.GroupVersion(), row.resources...)
	}}
})
