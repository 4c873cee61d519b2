package cloud

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	karpenterv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

func TestWhatBecomesOfNodes(t *testing.T) {
	joined := func() *corev1.Node {
		return &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: "node", Labels: map[string]string{
				karpenterv1.NodePoolLabelKey: "pool", karpenterv1.NodeRegisteredLabelKey: "true",
				karpenterv1.NodeInitializedLabelKey: "true",
				team:                                "red", corev1.LabelArchStable: "amd64",
			}},
			Spec: corev1.NodeSpec{ProviderID: "kwok://node", Taints: []corev1.Taint{
				{Key: team, Effect: corev1.TaintEffectNoSchedule},
				{Key: disk, Effect: corev1.TaintEffectNoSchedule},
				karpenterv1.DisruptedNoScheduleTaint,
			}},
			Status: corev1.NodeStatus{
				Allocatable: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("2")},
				Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
			},
		}
	}
	claim := &karpenterv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "claim"}}
	claim.Status.ProviderID = "kwok://node"
	claim.Spec.StartupTaints = []corev1.Taint{{Key: team, Effect: corev1.TaintEffectNoSchedule}}

	for name, holds := range map[string]func([]corev1.Node) bool{
		"joins-again": func(nodes []corev1.Node) bool {
			return len(nodes) == 2 && nodes[1].Spec.ProviderID == "kwok://node" &&
				nodes[1].Labels[karpenterv1.NodeRegisteredLabelKey] == ""
		},
		"resets-labels": func(nodes []corev1.Node) bool {
			return nodes[0].Labels[team] == "" && nodes[0].Labels[corev1.LabelArchStable] == "amd64" &&
				nodes[0].Labels[karpenterv1.NodePoolLabelKey] == "pool"
		},
		"clears-startup-taints": func(nodes []corev1.Node) bool { return !bears(nodes[0], team) && bears(nodes[0], disk) },
		"clears-disrupted-taint": func(nodes []corev1.Node) bool {
			return bears(nodes[0], team) && len(nodes[0].Spec.Taints) == 2
		},
		"ends-by-itself":         func(nodes []corev1.Node) bool { return len(nodes) == 0 },
		"joins-with-little-room": func(nodes []corev1.Node) bool { return nodes[0].Status.Allocatable.Pods().Value() == 16 },
	} {
		synctest.Test(t, func(t *testing.T) {
			api := fake.NewClientBuilder().WithObjects(joined(), claim).WithStatusSubresource(&corev1.Node{}).
				WithIndex(&karpenterv1.NodeClaim{}, "status.providerID", func(o client.Object) []string {
					return []string{o.(*karpenterv1.NodeClaim).Status.ProviderID}
				}).Build()
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			if err := Lies()[name].Sabotage(ctx, api); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			var nodes corev1.NodeList
			if err := api.List(t.Context(), &nodes); err != nil {
				t.Fatal(err)
			}
			if !holds(nodes.Items) {
				t.Errorf("%s: there is %+v", name, nodes.Items)
			}
		})
	}
}

func bears(node corev1.Node, key string) bool {
	return slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.Key == key })
}
