package provisioning

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Nodes have the well-known labels from registration on, and the label for initialized
// nodes once they are. Users spread pods over zones, bind them to architectures, keep
// them off spot and split costs by them.
//
// Source: https://karpenter.sh/docs/concepts/nodepools, "Well-Known Labels";
// Karpenter: pkg/apis/v1/labels.go.
var _ = Suite.Add(e2e.Spec{
	Name: "puts the well-known labels on its nodes",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app := fixtures.Deployment(1).On(pool)

		before := env.Mark()
		env.Create(ctx, pool, app)
		env.Await(ctx, 1, check.RunningPods(app))
		env.Await(ctx, 1, check.InitializedNodes(pool))

		env.Expect(env.Since(before), wellKnown(check.RegisteredNodes(pool))...)
	},
})

// wellKnown checks each well-known label separately, so that a failure names the missing one.
// The nodes have the pool's label: they are counted by it.
func wellKnown(nodes check.Count) []check.Check {
	var all []check.Check
	for _, key := range []string{
		karpenter.CapacityTypeLabel, corev1.LabelTopologyZone, corev1.LabelInstanceTypeStable,
		corev1.LabelArchStable, corev1.LabelOSStable,
	} {
		all = append(all, check.Always(check.Each(nodes, "have the label "+key, func(node *unstructured.Unstructured) bool {
			return karpenter.Label(node, key) != ""
		})))
	}
	return all
}
