package install

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// inOrder sorts objects so that what others need comes first, as Helm does;
// otherwise they stay as they were.
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
			return len(order) + 1 // after whatever kinds are not in the list
		default:
			return len(order)
		}
	}
	sorted := slices.Clone(objects)
	slices.SortStableFunc(sorted, func(a, b *unstructured.Unstructured) int { return cmp.Compare(rank(a), rank(b)) })
	return sorted
}
