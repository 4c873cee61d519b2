package install

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// inOrder sorts objects by kind, dependencies first, as Helm does. The sort is stable.
func inOrder(objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	order := []string{
		"Namespace", "PriorityClass", "ResourceQuota", "LimitRange", "NetworkPolicy", "PodDisruptionBudget",
		"ServiceAccount", "Secret", "ConfigMap", "StorageClass", "PersistentVolume", "PersistentVolumeClaim",
		"CustomResourceDefinition", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding", "Service",
	}
	rank := func(o *unstructured.Unstructured) int {
		switch i := slices.Index(order, o.GetKind()); {
		case i >= 0:
			return i
		case o.GetKind() == "Deployment":
			return len(order) + 1 // after kinds that are not in the list
		default:
			return len(order)
		}
	}
	sorted := slices.Clone(objects)
	slices.SortStableFunc(sorted, func(a, b *unstructured.Unstructured) int { return cmp.Compare(rank(a), rank(b)) })
	return sorted
}
