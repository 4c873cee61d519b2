package invariant

import (
	"bytes"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/history"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

// Fields that package karpenter has no accessor for; none of these copies.

func fieldAt(o *unstructured.Unstructured, path ...string) any {
	v, _, _ := unstructured.NestedFieldNoCopy(o.Object, path...)
	return v
}

func textAt(o *unstructured.Unstructured, path ...string) string {
	s, _ := fieldAt(o, path...).(string)
	return s
}

func timeAt(o *unstructured.Unstructured, path ...string) time.Time {
	t, _ := asTime(fieldAt(o, path...))
	return t
}

// asTime parses a time, and reports whether it is one.
func asTime(v any) (t time.Time, ok bool) {
	s, _ := v.(string)
	t, err := time.Parse(time.RFC3339, s)
	return t, err == nil && !t.IsZero()
}

func timeOfDay(t time.Time) string { return t.UTC().Format(time.TimeOnly) }

// objectsAt returns the elements of a list that are objects.
func objectsAt(o *unstructured.Unstructured, path ...string) []map[string]any {
	entries, _ := fieldAt(o, path...).([]any)
	all := make([]map[string]any, 0, len(entries))
	for _, e := range entries {
		if m, ok := e.(map[string]any); ok {
			all = append(all, m)
		}
	}
	return all
}

// quantities reads a list of resources, and skips what it can't parse.
func quantities(list any) map[string]resource.Quantity {
	all := map[string]resource.Quantity{}
	entries, _ := list.(map[string]any)
	for name, v := range entries {
		switch v := v.(type) {
		case string:
			if q, err := resource.ParseQuantity(v); err == nil {
				all[name] = q
			}
		case int64:
			all[name] = *resource.NewQuantity(v, resource.DecimalSI)
		}
	}
	return all
}

func ownersOf(o *unstructured.Unstructured) []map[string]any {
	return objectsAt(o, "metadata", "ownerReferences")
}

func ownedBy(o *unstructured.Unstructured, kind string) bool {
	return slices.ContainsFunc(ownersOf(o), func(owner map[string]any) bool { return owner["kind"] == kind })
}

// taintKinds returns the key and effect of each taint in spec.taints or spec.startupTaints.
// They identify a taint (core/v1 Taint, MatchTaint).
func taintKinds(o *history.Object, list string) []string {
	var all []string
	for _, t := range objectsAt(o.Unstructured(), "spec", list) {
		key, _ := t["key"].(string)
		effect, _ := t["effect"].(string)
		all = append(all, key+":"+effect)
	}
	return all
}

// generationOf returns an object's metadata.generation; 0 if it has none.
func generationOf(o *unstructured.Unstructured) int64 {
	n, _ := fieldAt(o, "metadata", "generation").(int64)
	return n
}

// changedAt reports whether an event changed a field of a spec, and thereby the generation.
func changedAt(m *check.Moment, path ...string) bool {
	was, is := m.Before.Unstructured(), m.Event.Object.Unstructured()
	if g := generationOf(is); g != 0 && g == generationOf(was) {
		return false
	}
	return !equality.Semantic.DeepEqual(fieldAt(was, path...), fieldAt(is, path...))
}

func becomesTrue(m *check.Moment, condition string) bool {
	return isTrue(m.Event.Object, condition) && (m.Before == nil || !isTrue(m.Before, condition))
}

func becomesDeleting(m *check.Moment) bool {
	return isDeleting(m.Event.Object) && !isDeleting(m.Before)
}

// becomesLabeled reports whether an existing object gets a label with the value "true".
func becomesLabeled(m *check.Moment, label string) bool {
	return m.Before != nil && isLabeled(m.Event.Object, label) && !isLabeled(m.Before, label)
}

func isTrue(o *history.Object, condition string) bool {
	return karpenter.IsTrue(o.Unstructured(), condition)
}

func isDeleting(o *history.Object) bool { return o != nil && karpenter.Deleting(o.Unstructured()) }

// isLabeled reports whether an object has a label with the value "true".
func isLabeled(o *history.Object, label string) bool {
	return o != nil && karpenter.Label(o.Unstructured(), label) == "true"
}

// eventOf returns what saidBy returns of the moment's Event.
func eventOf(m *check.Moment, component, kind string, reasons ...string) (reason string, about karpenter.Involved) {
	if m.Deleted() {
		return "", about
	}
	return saidBy(m.Event.Object, component, kind, reasons...)
}

// saidBy returns the reason of a Kubernetes Event and the object it is about. The reason is
// "" unless component, kind (any, if empty) and one of the reasons match. It decodes few of the
// others.
func saidBy(e *history.Object, component, kind string, reasons ...string) (reason string, about karpenter.Involved) {
	said := func(reason string) bool { return bytes.Contains(e.Raw(), []byte(`"`+reason+`"`)) }
	if !slices.ContainsFunc(reasons, said) {
		return "", about
	}
	event := e.Unstructured()
	reason, about = karpenter.EventReason(event), karpenter.EventInvolved(event)
	if !slices.Contains(reasons, reason) || kind != "" && about.Kind != kind ||
		karpenter.EventComponent(event) != component {
		return "", about
	}
	return reason, about
}

// getOrNew returns the value of a key, and creates it if missing.
func getOrNew[V any](m map[string]*V, key string) *V {
	v := m[key]
	if v == nil {
		v = new(V)
		m[key] = v
	}
	return v
}
