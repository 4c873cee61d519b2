package api

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A rule is what the schema says of a field: values that it refuses and, beside
// them, some that it accepts, so that a server which refuses everything breaks
// the rule too. Values are YAML.
type rule struct {
	name     string
	since    string // the Karpenter release that has the rule; empty: all
	of       []field
	as       string // how a value is written into the field, at %s; empty: as it is
	refused  []string
	because  string // part of the refusal; empty: the path of the field
	accepted []string
	unlike   []field // that accept the accepted values; empty: the same fields
}

// A field is one of a NodePool's or NodeClaim's.
type field struct {
	of   func() *fixtures.Raw
	path string
}

// pool is a field of NodePools, below spec. Releases before 1.15 want
// consolidateAfter to be there.
func pool(path string) []field {
	return []field{{func() *fixtures.Raw {
		return fixtures.RawNodePool().Write("spec.disruption.consolidateAfter", "0s")
	}, "spec." + path}}
}

// claim is a field of NodeClaims, below spec.
func nodeClaim(path string) []field {
	return []field{{fixtures.RawNodeClaim, "spec." + path}}
}

// both is a field that a NodeClaim has, and a NodePool in its template.
func both(path string) []field {
	return append(pool("template.spec."+path), nodeClaim(path)...)
}

// staticPool is a field of NodePools that are static.
func staticPool(path string) []field {
	return []field{{func() *fixtures.Raw {
		return fixtures.RawNodePool().Write("spec.replicas", "0")
	}, "spec." + path}}
}

// spec is the spec that has the API server judge all values of a rule.
func (r rule) spec() e2e.Spec {
	return e2e.Spec{Name: r.name, Since: e2e.Since{Karpenter: r.since}, Run: func(ctx context.Context, env *e2e.Env) {
		env.Refused(ctx, r.reason(), r.written(r.of, r.refused)...)
		env.Accepted(ctx, r.written(r.accepting(), r.accepted)...)
	}}
}

// reason is part of the refusal. The path of a NodeClaim's field, which is the last, is part of that of
// a NodePool's.
func (r rule) reason() string { return cmp.Or(r.because, r.of[len(r.of)-1].path) }

func (r rule) accepting() []field {
	if r.unlike != nil {
		return r.unlike
	}
	return r.of
}

// written are objects, one with each value in each field.
func (r rule) written(fields []field, values []string) []fixtures.Object {
	var objects []fixtures.Object
	for _, f := range fields {
		for _, value := range values {
			objects = append(objects, f.of().Write(f.path, strings.ReplaceAll(cmp.Or(r.as, "%s"), "%s", value)))
		}
	}
	return objects
}

// many is a list of n entries, of which each is written with its number.
func many(n int, entry string) string {
	entries := make([]string, n)
	for i := range entries {
		entries[i] = fmt.Sprintf(entry, i)
	}
	return "[" + strings.Join(entries, ", ") + "]"
}
