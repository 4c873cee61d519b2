package overlay

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// cheapest lets a pool that always looks for a cheaper node launch one for a pod,
// and returns its instance type: the cheapest that there is. Spot nodes would not be
// replaced by cheaper ones of their kind.
func cheapest(ctx context.Context, env *e2e.Env) (pool *fixtures.Pool, instanceType string) {
	pool = fixtures.NodePool().OnDemand().Consolidate(fixtures.WhenEmptyOrUnderutilized)
	node := env.Launch(ctx, 1, pool, fixtures.Deployment(1).On(pool))[0]
	return pool, karpenter.Label(node.Unstructured(), corev1.LabelInstanceTypeStable)
}
