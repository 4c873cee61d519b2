package env

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"
)

// hasFreeKeys reports whether users choose the keys of a field's mapping. It counts as one field.
func hasFreeKeys(path string) bool {
	switch path[strings.LastIndex(path, ".")+1:] {
	case "labels", "annotations", "nodeSelector", "matchLabels", "requests", "limits", "capacity", "parameters",
		"podFixed":
		return true
	}
	return false
}

// fieldsOf returns the fields that an object sets beside its metadata, such as
// "NodePool.spec.weight". Those of a list's items are fields of the list. Those of pod templates
// are fields of Pod.
func fieldsOf(o *unstructured.Unstructured) sets.Set[string] {
	fields := sets.New[string]()
	for name, value := range o.Object {
		if name != "metadata" && value != o.GetAPIVersion() && value != o.GetKind() {
			addFields(fields, o.GetKind()+"."+name, value)
		}
	}
	return fields
}

func addFields(fields sets.Set[string], path string, value any) {
	switch v := value.(type) {
	case map[string]any:
		if len(v) == 0 || hasFreeKeys(path) {
			fields.Insert(path)
			return
		}
		for name, value := range v {
			switch next := path + "." + name; next {
			case "Deployment.spec.template.spec", "DaemonSet.spec.template.spec", "PodTemplate.template.spec":
				addFields(fields, "Pod.spec", value)
			case "Deployment.spec.template.metadata", "DaemonSet.spec.template.metadata", "PodTemplate.template.metadata":
			default:
				addFields(fields, next, value)
			}
		}
	case []any:
		if len(v) == 0 {
			fields.Insert(path)
		}
		for _, item := range v {
			addFields(fields, path, item)
		}
	default:
		fields.Insert(path)
	}
}

// sets notes the fields that a spec sets.
func (r *Result) sets(o *unstructured.Unstructured) { r.fields = r.fields.Union(fieldsOf(o)) }

// expects notes the fields that a spec expects of an object in its version, such as
// "v1beta1/NodePool.spec.weight".
func (r *Result) expects(o *unstructured.Unstructured) {
	for field := range fieldsOf(o) {
		r.fields = r.fields.Union(sets.New(o.GroupVersionKind().Version + "/" + field))
	}
}

// Fields returns the fields of objects that the spec has set or expects, sorted.
func (r *Result) Fields() []string { return sets.List(r.fields) }
