package core

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/operator/injection"
)

func TestBudgetsHoldInAllPools(t *testing.T) {
	one, two := pool(), pool()
	two.Name = "other"
	one.Spec.Disruption.Budgets = []v1.Budget{{Nodes: "1"}}
	two.Spec.Disruption.Budgets = []v1.Budget{{Nodes: "2"}}
	lying := Lies()["shares-budgets"].Client(fake.NewClientBuilder().WithObjects(one, two).Build())

	for asking, want := range map[string]int{disrupting: 2, provisioning: 1} {
		var pools v1.NodePoolList
		if err := lying.List(injection.WithControllerName(t.Context(), asking), &pools); err != nil {
			t.Fatal(err)
		}
		for _, p := range pools.Items {
			if got := len(p.Spec.Disruption.Budgets); got != want {
				t.Errorf("%s reads %d budgets of %s, want %d", asking, got, p.Name, want)
			}
		}
	}
}

func TestBudgetsStayAsTheyWere(t *testing.T) {
	p := pool()
	p.UID, p.Spec.Disruption.Budgets = "1", []v1.Budget{{Nodes: "1"}}
	honest := fake.NewClientBuilder().WithObjects(p).Build()
	lying := Lies()["remembers-old-budgets"].Client(honest)
	ctx := injection.WithControllerName(t.Context(), disrupting)

	for _, nodes := range []string{"1", "2"} {
		p.Spec.Disruption.Budgets[0].Nodes = nodes
		if err := honest.Update(ctx, p); err != nil {
			t.Fatal(err)
		}
		var got v1.NodePool
		if err := lying.Get(ctx, client.ObjectKeyFromObject(p), &got); err != nil {
			t.Fatal(err)
		}
		if got := got.Spec.Disruption.Budgets[0].Nodes; got != "1" {
			t.Errorf("a budget that was changed to %s is read as %s, want 1", nodes, got)
		}
	}
}

// TestMemoryOfNodes uses a spot node that is registered, not ready, and being deleted.
func TestMemoryOfNodes(t *testing.T) {
	honest := fake.NewClientBuilder().WithObjects(&corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: "node", DeletionTimestamp: new(metav1.Now()), Finalizers: []string{v1.TerminationFinalizer},
			Labels: map[string]string{v1.NodeRegisteredLabelKey: "true", v1.CapacityTypeLabelKey: v1.CapacityTypeSpot},
		},
		Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{
			Type:   corev1.NodeReady,
			Status: corev1.ConditionFalse,
		}}},
	}).Build()
	for name, misread := range map[string]func(corev1.Node) bool{
		"overlooks-deletions":     func(n corev1.Node) bool { return n.DeletionTimestamp == nil },
		"counts-nodes-that-start": func(n corev1.Node) bool { return n.Labels[v1.NodeInitializedLabelKey] == "true" },
		"takes-unready-nodes-for-ready": func(n corev1.Node) bool {
			return n.Status.Conditions[0].Status == corev1.ConditionTrue
		},
		"takes-spot-for-on-demand": func(n corev1.Node) bool {
			return n.Labels[v1.CapacityTypeLabelKey] == v1.CapacityTypeOnDemand
		},
	} {
		for asking, want := range map[string]bool{rememberingNodes: true, disrupting: false} {
			var node corev1.Node
			if err := Lies()[name].Client(honest).
				Get(injection.WithControllerName(t.Context(), asking), client.ObjectKey{Name: "node"}, &node); err != nil {
				t.Fatal(err)
			}
			if misread(node) != want {
				t.Errorf("%s: %s misreads the node: %t, want %t", name, asking, !want, want)
			}
		}
	}
}
