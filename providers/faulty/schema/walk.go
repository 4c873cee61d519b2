package schema

import "github.com/plumbline-e2e/plumbline/providers/faulty/lie"

// node is a part of a CRD.
type node = map[string]any

// version is the part of a CRD that is about v1.
func version(crd lie.CRD) node {
	versions, _ := at(crd, "spec")["versions"].([]any)
	for _, v := range versions {
		if n, ok := v.(node); ok && n["name"] == "v1" {
			return n
		}
	}
	return node{}
}

// spec returns the lie that each part of the schema of spec is another one.
func spec(change func(node)) lie.Lie {
	return lie.Lie{CRD: func(crd lie.CRD) {
		walk(at(version(crd), "schema", "openAPIV3Schema", "properties", "spec"), change)
	}}
}

// walk calls change for a schema and for all that are within it.
func walk(schema node, change func(node)) {
	change(schema)
	for _, property := range at(schema, "properties") {
		if n, ok := property.(node); ok {
			walk(n, change)
		}
	}
	for _, within := range []string{"items", "additionalProperties"} {
		if n := child(schema, within); n != nil {
			walk(n, change)
		}
	}
}

// at follows a path; what it finds is empty if there is nothing.
func at(n node, path ...string) node {
	if found := child(n, path...); found != nil {
		return found
	}
	return node{}
}

// child follows a path; nil if it ends.
func child(n node, path ...string) node {
	for _, step := range path {
		n, _ = n[step].(node)
	}
	return n
}
