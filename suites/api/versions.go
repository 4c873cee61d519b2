package api

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// Since Karpenter 1.1, pools and NodeClaims are served in version v1 and in no other. Nothing
// converts them any more: what an old client or manifest writes as v1beta1 would be stored
// with fields that Karpenter doesn't read, such as the kubelet's, and without those that it needs.
//
// Source: designs/v1-api.md, "Migration Path", step 5; the versions in the NodePool and
// NodeClaim CRDs.
var _ = Suite.Add(e2e.Spec{
	Name:  "serves pools and NodeClaims in version v1 alone",
	Since: e2e.Since{Karpenter: "1.1"},
	Run: func(ctx context.Context, env *e2e.Env) {
		env.ServesNoOther(ctx, karpenter.NodePools.GroupVersion(), "nodepools", "nodeclaims")
	},
})
