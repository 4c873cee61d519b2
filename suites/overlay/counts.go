package overlay

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
)

// gate is the feature gate that lets Karpenter read overlays.
const gate = "NodeOverlay"

func needs() []providers.Capability {
	return []providers.Capability{providers.NodePools, providers.NodeOverlay}
}

func since() e2e.Since { return e2e.Since{Karpenter: "1.8"} }

// cheapest lets a pool that always looks for a cheaper node launch one for a pod,
// and returns its instance type: the cheapest that there is. Spot nodes would not be
// replaced by cheaper ones of their kind.
func cheapest(ctx context.Context, env *e2e.Env) (pool *fixtures.Pool, instanceType string) {
	pool = fixtures.NodePool().Require(karpenter.CapacityTypeLabel, fixtures.In, karpenter.OnDemand).
		ConsolidationPolicy(fixtures.WhenEmptyOrUnderutilized).ConsolidateAfter("0s")
	env.Create(ctx, pool, fixtures.Deployment(1).On(pool))
	node := env.Await(ctx, 1, check.NodesWith(pool, check.True(karpenter.Ready), "that are ready"))[0]
	env.Await(ctx, 1, check.InitializedClaims(pool))
	return pool, karpenter.Label(node.Unstructured(), corev1.LabelInstanceTypeStable)
}

// overlays counts these overlays, as far as they are there.
func overlays(named ...*fixtures.Overlay) check.Count {
	words, names := "NodeOverlays", map[string]bool{}
	for _, overlay := range named {
		words += " " + overlay.GetName()
		names[overlay.GetName()] = true
	}
	return check.Where(words, karpenter.NodeOverlays, func(o *unstructured.Unstructured) bool { return names[o.GetName()] })
}

// unlike says whether a node is of another instance type.
func unlike(instanceType string) func(*unstructured.Unstructured) bool {
	return func(node *unstructured.Unstructured) bool {
		return karpenter.Label(node, corev1.LabelInstanceTypeStable) != instanceType
	}
}
