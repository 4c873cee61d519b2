package nodeclaim

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// A NodeClaim says from which image its machine was started, as soon as it is launched and as
// long as it exists. Users see which nodes still run an image with a known hole, and the
// provider finds the nodes that drift when other images are selected.
//
// Source: status.imageID of the NodeClaim API; designs/v1-api.md, "NodeClaim API", whose
// printed columns have it.
var _ = Suite.Add(e2e.Spec{
	Name:  "says from which image its machine was started",
	Needs: []providers.Capability{providers.StandaloneNodeClaims, providers.Images},
	Run: func(ctx context.Context, env *e2e.Env) {
		nodeClaim := fixtures.NodeClaim()

		before := env.Mark()
		env.Create(ctx, nodeClaim)
		env.Await(ctx, 1, check.The(nodeClaim).In(karpenter.Initialized))

		env.Expect(env.Since(before),
			check.Always(check.Each(check.The(nodeClaim).In(karpenter.Launched), "name an image", hasImage)))
	},
})

func hasImage(nodeClaim *unstructured.Unstructured) bool {
	return karpenter.NodeClaimImage(nodeClaim) != ""
}
