package schema

import "github.com/plumbline-e2e/plumbline/providers/faulty/lie"

// node is a part of a CRD.
type node = map[string]any

// version returns a CRD's version v1, or an empty node.
func version(crd lie.CRD) node {
	versions, _ := at(crd, "spec")["versions"].([]any)
	for _, v := range versions {
		if n, ok := v.(node); ok && n["name"] == "v1" {
			return n
		}
	}
	return node{}
}

// spec returns a lie that changes each part of the schema of spec.
func spec(change func(node)) lie.Lie {
	return lie.Lie{CRD: func(crd lie.CRD) {
		walk(at(version(crd), "schema", "openAPIV3Schema", "properties", "spec"), change)
	}}
}

// walk calls change for a schema and for all schemas within it.
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

// at returns the node at a path. It is empty, and not nil, if there is none.
func at(n node, path ...string) node {
	if found := child(n, path...); found != nil {
		return found
	}
	return node{}
}

// child returns the node at a path, or nil.
func child(n node, path ...string) node {
	for _, step := range path {
		n, _ = n[step].(node)
	}
	return n
}
