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

// asTime reads a time, and says whether it is one.
func asTime(v any) (t time.Time, ok bool) {
	s, _ := v.(string)
	t, err := time.Parse(time.RFC3339, s)
	return t, err == nil && !t.IsZero()
}

// timeOfDay writes a time for people.
func timeOfDay(t time.Time) string { return t.UTC().Format(time.TimeOnly) }

// objectsAt are the elements of a list that are objects.
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

// quantities reads a list of resources, without what can't be read.
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

// ownersOf are the owner references of an object.
func ownersOf(o *unstructured.Unstructured) []map[string]any {
	return objectsAt(o, "metadata", "ownerReferences")
}

func ownedBy(o *unstructured.Unstructured, kind string) bool {
	return slices.ContainsFunc(ownersOf(o), func(owner map[string]any) bool { return owner["kind"] == kind })
}

// taintKinds are the taints in a list (spec.taints, spec.startupTaints) by what makes two the same to Kubernetes
// (core/v1 Taint, MatchTaint).
func taintKinds(o *history.Object, list string) []string {
	var all []string
	for _, t := range objectsAt(o.Unstructured(), "spec", list) {
		key, _ := t["key"].(string)
		effect, _ := t["effect"].(string)
		all = append(all, key+":"+effect)
	}
	return all
}

// generation counts the states of an object's spec; 0 if nobody counts.
func generationOf(o *unstructured.Unstructured) int64 {
	n, _ := fieldAt(o, "metadata", "generation").(int64)
	return n
}

// changedAt says whether an event has changed a field of a spec. The API server counts the changes of a spec.
func changedAt(m *check.Moment, path ...string) bool {
	was, is := m.Before.Unstructured(), m.Event.Object.Unstructured()
	if g := generationOf(is); g != 0 && g == generationOf(was) {
		return false
	}
	return !equality.Semantic.DeepEqual(fieldAt(was, path...), fieldAt(is, path...))
}

// becomesTrue says whether a condition is true from this event on.
func becomesTrue(m *check.Moment, condition string) bool {
	return isTrue(m.Event.Object, condition) && (m.Before == nil || !isTrue(m.Before, condition))
}

// becomesDeleting says whether the object is being deleted from this event on.
func becomesDeleting(m *check.Moment) bool {
	return isDeleting(m.Event.Object) && !isDeleting(m.Before)
}

// becomesLabeled says whether an object that was there gets a label of Karpenter's with the value "true".
func becomesLabeled(m *check.Moment, label string) bool {
	return m.Before != nil && isLabeled(m.Event.Object, label) && !isLabeled(m.Before, label)
}

func isTrue(o *history.Object, condition string) bool {
	return karpenter.IsTrue(o.Unstructured(), condition)
}

func isDeleting(o *history.Object) bool { return o != nil && karpenter.Deleting(o.Unstructured()) }

// isLabeled says whether an object has a label of Karpenter's with the value "true".
func isLabeled(o *history.Object, label string) bool {
	return o != nil && karpenter.Label(o.Unstructured(), label) == "true"
}

// eventOf says what a Kubernetes Event of a component is about, if that is of this kind, and which of the reasons it
// gives; "" if it is another Event. Most aren't decoded.
func eventOf(m *check.Moment, component, kind string, reasons ...string) (reason string, about karpenter.Involved) {
	said := func(reason string) bool { return bytes.Contains(m.Event.Object.Raw(), []byte(`"`+reason+`"`)) }
	if m.Deleted() || !slices.ContainsFunc(reasons, said) {
		return "", about
	}
	event := m.Event.Object.Unstructured()
	reason, about = karpenter.EventReason(event), karpenter.EventInvolved(event)
	if !slices.Contains(reasons, reason) || about.Kind != kind || karpenter.EventComponent(event) != component {
		return "", about
	}
	return reason, about
}

// getOrNew returns the value of a key, and makes it when it is first asked for.
func getOrNew[V any](m map[string]*V, key string) *V {
	v := m[key]
	if v == nil {
		v = new(V)
		m[key] = v
	}
	return v
}
