package karpenter

import (
	"iter"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Deleting reports whether metadata.deletionTimestamp is set: finalizers or a grace period
// still hold the object.
func Deleting(o *unstructured.Unstructured) bool {
	return text(child(o.Object, "metadata"), "deletionTimestamp") != ""
}

// NodePoolOf returns the value of a node's or NodeClaim's NodePoolLabel. It is empty for a
// standalone NodeClaim or a foreign node.
func NodePoolOf(o *unstructured.Unstructured) string {
	return Label(o, NodePoolLabel)
}

// Label returns the value of a label, empty if absent. Unlike GetLabels it copies nothing,
// which matters where it is called for every object after every event.
func Label(o *unstructured.Unstructured, key string) string {
	return text(child(o.Object, "metadata", "labels"), key)
}

// child follows a path through nested maps. It returns nil if the path ends early.
func child(m map[string]any, path ...string) map[string]any {
	for _, key := range path {
		m, _ = m[key].(map[string]any)
	}
	return m
}

// lookup returns the value at a dot-separated path, nil if absent.
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

// mappings returns the maps in the list at path. It skips elements of other types.
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

// quantity returns an entry of a resource list, zero if absent or unreadable. The API server
// accepts no unreadable one, so only hand-written objects have them.
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
