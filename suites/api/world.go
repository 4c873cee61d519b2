package api

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// notIn counts a pool if it has this condition with status False, a reason and a message.
func notIn(pool check.Object, condition string) check.Count {
	return check.The(pool).With("that say why they are not "+condition, func(o *unstructured.Unstructured) bool {
		c, found := karpenter.Condition(o, condition)
		return found && c.Status == metav1.ConditionFalse && c.Reason != "" && c.Message != ""
	})
}

// counting counts a pool if its status says that it has these nodes, and what they
// have together.
func counting(pool check.Object, nodes ...*history.Object) check.Count {
	wanted := map[corev1.ResourceName]resource.Quantity{"nodes": *resource.NewQuantity(int64(len(nodes)), resource.DecimalSI)}
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		sum := wanted[name]
		for _, node := range nodes {
			sum.Add(karpenter.Capacity(node.Unstructured(), name))
		}
		wanted[name] = sum
	}
	return check.The(pool).With("that count what they have", func(o *unstructured.Unstructured) bool {
		for name, quantity := range wanted {
			if said, found := total(o, name); !found || said.Cmp(quantity) != 0 {
				return false
			}
		}
		return true
	})
}

// total is status.resources[name] of a pool.
func total(pool *unstructured.Unstructured, name corev1.ResourceName) (resource.Quantity, bool) {
	text, found, err := unstructured.NestedString(pool.Object, "status", "resources", string(name))
	if !found || err != nil {
		return resource.Quantity{}, false
	}
	q, err := resource.ParseQuantity(text)
	return q, err == nil
}
