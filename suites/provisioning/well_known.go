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

// A node says where and what it is by the well-known labels, from its
// registration on, and that it is initialized once it is: pods are spread over
// zones, bound to architectures and kept off spot by them, and bills are split.
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

// wellKnown checks that nodes have the well-known labels, each by itself: a failure
// names the one that is missing. The pool's own, by which they are counted, they have.
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
