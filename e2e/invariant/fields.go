package invariant

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// Fields that package karpenter has no accessor for; none of these copies.

func text(o *unstructured.Unstructured, path ...string) string {
	v, _, _ := unstructured.NestedFieldNoCopy(o.Object, path...)
	s, _ := v.(string)
	return s
}

func moment(o *unstructured.Unstructured, path ...string) time.Time {
	t, _ := timeOf(value(o, path...))
	return t
}

// timeOf reads a time, and says whether it is one.
func timeOf(v any) (t time.Time, ok bool) {
	s, _ := v.(string)
	t, err := time.Parse(time.RFC3339, s)
	return t, err == nil && !t.IsZero()
}

// list is the elements of a list that are objects.
func list(o *unstructured.Unstructured, path ...string) []map[string]any {
	v, _, _ := unstructured.NestedFieldNoCopy(o.Object, path...)
	entries, _ := v.([]any)
	all := make([]map[string]any, 0, len(entries))
	for _, e := range entries {
		if m, ok := e.(map[string]any); ok {
			all = append(all, m)
		}
	}
	return all
}

func ownedBy(o *unstructured.Unstructured, kind string) bool {
	for _, owner := range list(o, "metadata", "ownerReferences") {
		if owner["kind"] == kind {
			return true
		}
	}
	return false
}

func hasFinalizer(o *unstructured.Unstructured, name string) bool {
	v, _, _ := unstructured.NestedFieldNoCopy(o.Object, "metadata", "finalizers")
	all, _ := v.([]any)
	for _, f := range all {
		if f == name {
			return true
		}
	}
	return false
}

// gone says whether the moment is that of an object's end.
func gone(m *check.Moment) bool { return m.Event.Type == watch.Deleted }

func value(o *unstructured.Unstructured, path ...string) any {
	v, _, _ := unstructured.NestedFieldNoCopy(o.Object, path...)
	return v
}

// generation counts the states of an object's spec; 0 if nobody counts.
func generation(o *unstructured.Unstructured) int64 {
	n, _ := value(o, "metadata", "generation").(int64)
	return n
}

// isNodeClass says whether a kind is the provider's.
func (p Params) isNodeClass(r schema.GroupVersionResource) bool {
	if !p.NodeClass.Empty() {
		return r == p.NodeClass
	}
	return r.Group != "" && r.Group != karpenter.Group && r != karpenter.Deployments
}
