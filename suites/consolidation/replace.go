package consolidation

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter replaces a node that is too large for its pods with a cheaper node that
// suffices. No object says what a node costs. So the spec compares CPUs: a node for a pod
// of three has more than a node for a pod of a tenth. The nodes are on-demand, because
// spot nodes are replaced only behind a feature gate.
//
// Source: https://karpenter.sh/docs/concepts/disruption, "Consolidation";
// designs/spot-consolidation.md.
var _ = Suite.Add(e2e.Spec{
	Name: "replaces a node that is too large for its pods by a smaller one",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().OnDemand().Consolidate(fixtures.WhenEmptyOrUnderutilized)
		app, large := fixtures.Deployment(1).On(pool), fixtures.Deployment(1).On(pool).CPU("3")
		env.Create(ctx, pool, large)
		env.Await(ctx, 1, check.RunningPods(large))
		env.Create(ctx, app)
		env.Await(ctx, 1, check.RunningPods(app))
		node := env.Await(ctx, 1, check.ReadyNodes(pool))[0].Unstructured()

		before := env.Mark()
		env.Delete(ctx, large)
		env.Await(ctx, 1, check.RunningPods(app).On(check.ReplacedNodes(pool, before)))
		env.Await(ctx, 0, check.Nodes(pool).Old(before))

		env.Expect(env.Since(before), check.Always(check.Each(check.ReplacedNodes(pool, before), "have less CPU for pods",
			func(replacement *unstructured.Unstructured) bool { return hasLessCPU(replacement, node) })))
	},
})

// hasLessCPU tells whether a node has less allocatable CPU than another.
func hasLessCPU(node, than *unstructured.Unstructured) bool {
	mine, other := karpenter.Allocatable(node, corev1.ResourceCPU), karpenter.Allocatable(than, corev1.ResourceCPU)
	return mine.Cmp(other) < 0
}
