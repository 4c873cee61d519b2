package install

import (
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func manifest(apiVersion, kind, namespace, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{}}
	o.SetAPIVersion(apiVersion)
	o.SetKind(kind)
	o.SetNamespace(namespace)
	o.SetName(name)
	return o
}

func TestAnUpgradeDeletesWhatOnlyTheOldManifestsHave(t *testing.T) {
	old := []*unstructured.Unstructured{
		manifest("v1", "ServiceAccount", "", "karpenter"),
		manifest("v1", "Secret", "karpenter", "webhook-cert"),
		manifest("policy/v1beta1", "PodDisruptionBudget", "karpenter", "karpenter"),
		manifest("rbac.authorization.k8s.io/v1", "ClusterRole", "", "karpenter"),
	}
	next := []*unstructured.Unstructured{
		manifest("v1", "ServiceAccount", "karpenter", "karpenter"),         // the same, with its namespace
		manifest("policy/v1", "PodDisruptionBudget", "", "karpenter"),      // the same, in another version
		manifest("rbac.authorization.k8s.io/v1", "ClusterRole", "", "new"), // another one
	}
	var names []string
	for _, o := range missingIn(next, old, "karpenter") {
		names = append(names, o.GetKind()+" "+o.GetName())
	}
	NewWithT(t).Expect(names).To(Equal([]string{"Secret webhook-cert", "ClusterRole karpenter"}))
}

// crdOf returns a CRD with a schema of its spec.
func crdOf(kind, name string, spec map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"name": name},
		"spec": map[string]any{"names": map[string]any{"kind": kind}, "versions": []any{
			map[string]any{"name": "v1beta1", "storage": false},
			map[string]any{"name": "v1", "storage": true, "schema": map[string]any{"openAPIV3Schema": map[string]any{
				"properties": map[string]any{"spec": spec},
			}}},
		}},
	}}
}

func TestWhatIsLostOnTheWayBack(t *testing.T) {
	leaf := map[string]any{"type": "string"}
	object := func(fields map[string]any) map[string]any { return map[string]any{"properties": fields} }
	list := func(of map[string]any) map[string]any { return map[string]any{"items": of} }
	old := &Prepared{crds: []*unstructured.Unstructured{
		crdOf("NodePool", "nodepools", object(map[string]any{
			"weight": leaf, "budgets": list(object(map[string]any{"nodes": leaf})),
			"any": map[string]any{"x-kubernetes-preserve-unknown-fields": true},
		})),
	}}
	next := &Prepared{crds: []*unstructured.Unstructured{
		crdOf("NodePool", "nodepools", object(map[string]any{
			"weight": leaf, "budgets": list(object(map[string]any{"nodes": leaf, "reasons": list(leaf)})),
			"replicas": object(map[string]any{"min": leaf}), "any": object(map[string]any{"x": leaf}),
		})),
		crdOf("NodeOverlay", "nodeoverlays", object(map[string]any{"price": leaf})),
	}}
	g := NewWithT(t)
	g.Expect(old.Lost(next)).To(Equal([]string{"NodePool.spec.budgets[].reasons", "NodePool.spec.replicas"}))
	g.Expect(next.Lost(old)).To(BeEmpty())
}
