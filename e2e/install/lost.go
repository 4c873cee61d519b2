package install

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Lost returns the fields, such as NodePool.spec.replicas, that another release's CRDs have and these
// lack. What is stored in them is lost once these are applied. Of a field that is lost, the fields
// within aren't listed.
func (p *Prepared) Lost(other *Prepared) []string {
	var lost []string
	for _, theirs := range other.crds {
		i := slices.IndexFunc(p.crds, func(o *unstructured.Unstructured) bool { return o.GetName() == theirs.GetName() })
		if i < 0 {
			continue // a CRD that only the other release has stays
		}
		kind, _, _ := unstructured.NestedString(theirs.Object, "spec", "names", "kind")
		lost = append(lost, missingFields(kind, storedSchema(theirs), storedSchema(p.crds[i]))...)
	}
	slices.Sort(lost)
	return lost
}

// storedSchema returns the schema of a CRD's stored version.
func storedSchema(crd *unstructured.Unstructured) map[string]any {
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	for _, v := range versions {
		if version, _ := v.(map[string]any); version["storage"] == true {
			schema, _, _ := unstructured.NestedMap(version, "schema", "openAPIV3Schema")
			return schema
		}
	}
	return nil
}

// missingFields returns the paths of the fields that a schema has and another one lacks.
func missingFields(path string, schema, other map[string]any) []string {
	if other["x-kubernetes-preserve-unknown-fields"] == true {
		return nil
	}
	var missing []string
	fields, _ := schema["properties"].(map[string]any)
	others, _ := other["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		field, _ := fields[name].(map[string]any)
		if its, known := others[name].(map[string]any); known {
			missing = append(missing, missingFields(path+"."+name, field, its)...)
		} else {
			missing = append(missing, path+"."+name)
		}
	}
	for _, inner := range []string{"items", "additionalProperties"} {
		if element, is := schema[inner].(map[string]any); is {
			its, _ := other[inner].(map[string]any)
			missing = append(missing, missingFields(path+"[]", element, its)...)
		}
	}
	return missing
}
