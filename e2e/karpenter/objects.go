package karpenter

import (
	"iter"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Deleting says whether somebody has asked for the object's deletion
// (metadata.deletionTimestamp is set): finalizers or a grace period still hold
// it.
func Deleting(o *unstructured.Unstructured) bool {
	return text(child(o.Object, "metadata"), "deletionTimestamp") != ""
}

// NodePoolOf is the name of the NodePool that a node or NodeClaim belongs to,
// by its label; empty for a standalone NodeClaim or a foreign node.
func NodePoolOf(o *unstructured.Unstructured) string {
	return Label(o, NodePoolLabel)
}

// Label is the value of one label, empty if absent. Unlike GetLabels it copies
// nothing, which counts where it is asked for every object after every event.
func Label(o *unstructured.Unstructured, key string) string {
	return text(child(o.Object, "metadata", "labels"), key)
}

// child follows path from one map to the next; nil if it ends.
func child(m map[string]any, path ...string) map[string]any {
	for _, key := range path {
		m, _ = m[key].(map[string]any)
	}
	return m
}

// lookup is the value at a dot-separated path, nil if absent.
func lookup(o *unstructured.Unstructured, path string) any {
	parent := o.Object
	for {
		key, rest, more := strings.Cut(path, ".")
		if !more {
			return parent[key]
		}
		parent, path = child(parent, key), rest
	}
}

// mappings are the elements of the list at path; those of another type are
// left out.
func mappings(o *unstructured.Unstructured, path string) iter.Seq[map[string]any] {
	list, _ := lookup(o, path).([]any)
	return func(yield func(map[string]any) bool) {
		for _, e := range list {
			if m, ok := e.(map[string]any); ok && !yield(m) {
				return
			}
		}
	}
}

func text(m map[string]any, key string) string {
	s, _ := m[key].(string)
	return s
}

func integer(m map[string]any, key string) int64 {
	switch n := m[key].(type) {
	case int64:
		return n
	case float64:
		return int64(n)
	default:
		return 0
	}
}

// quantity is the entry of a resource list; zero if absent or unreadable. The
// API server has checked it, so that unreadable means hand-written.
func quantity(list map[string]any, name string) resource.Quantity {
	switch v := list[name].(type) {
	case string:
		q, err := resource.ParseQuantity(v)
		if err != nil {
			return resource.Quantity{}
		}
		return q
	case int64:
		return *resource.NewQuantity(v, resource.DecimalSI)
	default:
		return resource.Quantity{}
	}
}
