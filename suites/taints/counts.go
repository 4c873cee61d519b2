package taints

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// settled is how long pods are given to land where they must not: a scheduler
// looks at a node within a second of every change to it.
const settled = 5 * time.Second

// registered counts a pool's nodes that Karpenter has registered.
func registered(pool *fixtures.Pool) check.Count {
	return check.NodesWith(pool, isRegistered, "that are registered")
}

func isRegistered(node *unstructured.Unstructured) bool {
	return karpenter.Label(node, karpenter.RegisteredLabel) == "true"
}

// initialized counts a pool's nodes that Karpenter has found to be ready for work.
func initialized(pool *fixtures.Pool) check.Count {
	return check.NodesWith(pool, check.Labeled(karpenter.InitializedLabel, "true"), "that are initialized")
}

// without says whether a node has no taint of this key: for With.
func without(key string) func(*unstructured.Unstructured) bool {
	return func(node *unstructured.Unstructured) bool { return !karpenter.HasTaint(node, key) }
}

// tainted says whether a node has a taint of this key, with this effect and
// without a value, and no other of this key.
func tainted(key, effect string) func(*unstructured.Unstructured) bool {
	only := corev1.Taint{Key: key, Effect: corev1.TaintEffect(effect)}
	return func(node *unstructured.Unstructured) bool {
		of := slices.DeleteFunc(karpenter.Taints(node), func(t corev1.Taint) bool { return t.Key != key })
		return slices.Equal(of, []corev1.Taint{only})
	}
}
