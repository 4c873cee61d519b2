package api

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A rule lists YAML values of a field that the schema refuses. It also lists accepted values,
// so that a server that refuses everything breaks the rule.
type rule struct {
	name     string
	since    string // the first Karpenter release with the rule; empty: all
	known    []e2e.Known
	of       []field
	as       string // a format with the value at %s; empty: the value itself
	refused  []string
	because  string // part of the refusal; empty: the path of the field
	accepted []string
	unlike   []field // fields that accept the accepted values; empty: the same fields
}

// A field is a field of a NodePool or NodeClaim.
type field struct {
	of   func() *fixtures.Raw
	path string
}

// pool returns a field of NodePools, below spec. Releases before 1.15 require
// consolidateAfter.
func pool(path string) []field {
	return []field{{func() *fixtures.Raw {
		return fixtures.RawNodePool().Write("spec.disruption.consolidateAfter", "0s")
	}, "spec." + path}}
}

// nodeClaim returns a field of NodeClaims, below spec.
func nodeClaim(path string) []field {
	return []field{{fixtures.RawNodeClaim, "spec." + path}}
}

// bothFields returns a field of NodeClaims and of a NodePool's template.
func bothFields(path string) []field {
	return append(pool("template.spec."+path), nodeClaim(path)...)
}

// staticPool returns a field of static NodePools.
func staticPool(path string) []field {
	return []field{{func() *fixtures.Raw {
		return fixtures.RawNodePool().Write("spec.replicas", "0")
	}, "spec." + path}}
}

// spec returns the spec that makes the API server check a rule's values.
func (r rule) spec() e2e.Spec {
	since := e2e.Since{Karpenter: r.since}
	return e2e.Spec{Name: r.name, Since: since, Known: r.known, Run: func(ctx context.Context, env *e2e.Env) {
		env.Refused(ctx, r.reason(), r.objectsWith(r.of, r.refused)...)
		env.Accepted(ctx, r.objectsWith(r.accepting(), r.accepted)...)
	}}
}

// reason returns part of the refusal. A NodeClaim's path comes last and is part of a
// NodePool's path.
func (r rule) reason() string { return cmp.Or(r.because, r.of[len(r.of)-1].path) }

func (r rule) accepting() []field {
	if r.unlike != nil {
		return r.unlike
	}
	return r.of
}

// objectsWith returns one object for each value in each field.
func (r rule) objectsWith(fields []field, values []string) []fixtures.Object {
	var objects []fixtures.Object
	for _, f := range fields {
		for _, value := range values {
			objects = append(objects, f.of().Write(f.path, strings.ReplaceAll(cmp.Or(r.as, "%s"), "%s", value)))
		}
	}
	return objects
}

// repeatEntry returns a list of n entries. Each entry contains its number.
func repeatEntry(n int, entry string) string {
	entries := make([]string, n)
	for i := range entries {
		entries[i] = fmt.Sprintf(entry, i)
	}
	return "[" + strings.Join(entries, ", ") + "]"
}
