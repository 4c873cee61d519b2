package api

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/fixtures"
	"github.com/plumbline-e2e/plumbline/providers"
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
	of   func() *fixtures.Written
	path string
}

// pool is a field of NodePools, below spec. Releases before 1.15 want
// consolidateAfter to be there.
func pool(path string) []field {
	return []field{{func() *fixtures.Written {
		return fixtures.WrittenNodePool().Write("spec.disruption.consolidateAfter", "0s")
	}, "spec." + path}}
}

// claim is a field of NodeClaims, below spec.
func claim(path string) []field {
	return []field{{fixtures.WrittenNodeClaim, "spec." + path}}
}

// both is a field that a NodeClaim has, and a NodePool in its template.
func both(path string) []field {
	return append(pool("template.spec."+path), claim(path)...)
}

// static is a field of NodePools that are static.
func static(path string) []field {
	return []field{{func() *fixtures.Written { return fixtures.WrittenNodePool().Write("spec.replicas", "0") }, "spec." + path}}
}

// needs is what rules need: the CRDs that every provider with NodePools has.
func needs() []providers.Capability { return []providers.Capability{providers.NodePools} }

// judge has the API server judge all values of a rule.
func (r rule) judge(ctx context.Context, env *e2e.Env) {
	for _, f := range r.of {
		for _, value := range r.refused {
			env.Refused(ctx, r.written(f, value), cmp.Or(r.because, f.path))
		}
	}
	accepting := r.of
	if r.unlike != nil {
		accepting = r.unlike
	}
	for _, f := range accepting {
		for _, value := range r.accepted {
			env.Accepted(ctx, r.written(f, value))
		}
	}
}

// written is an object with a value in a field.
func (r rule) written(f field, value string) *fixtures.Written {
	return f.of().Write(f.path, strings.ReplaceAll(cmp.Or(r.as, "%s"), "%s", value))
}

// many is a list of n entries, of which each is written with its number.
func many(n int, entry string) string {
	entries := make([]string, n)
	for i := range entries {
		entries[i] = fmt.Sprintf(entry, i)
	}
	return "[" + strings.Join(entries, ", ") + "]"
}
