package conversion

import (
	"context"
	"slices"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// fields are an object's fields in two versions, by their paths, as YAML: as they are written in one
// version, and as they are read in the other. A field that is null is absent.
type fields struct {
	name          string
	written, read map[string]string
	known         []e2e.Known
}

// lossy returns the known failure of a release that loses something.
func lossy(reason string, breaks ...string) []e2e.Known {
	return []e2e.Known{{
		Releases: ">=1.0.0 <1.1.0", // seen in v1.0.8
		Issue:    e2e.Finding("karpenter-lossy-conversion"),
		Reason:   reason, Breaks: breaks,
	}}
}

// unseen is the invariant that breaks with a loss in a pool's template: the pool's generation stays, since
// nothing has changed in the version that was written.
const unseen = "NodeClaims keep their spec, and carry the hash of their NodePool"

// both returns fields that are the same in both versions.
func both(name string, written map[string]string) fields {
	return fields{name: name, written: written, read: written}
}

// with writes fields into an object.
func with(object *fixtures.Raw, fields map[string]string) *fixtures.Raw {
	for path, text := range fields {
		object.Write(path, text)
	}
	return object
}

// roundTrip creates an object in one version. It expects its fields in this and in the other version,
// also after each of them has written an annotation. A client that writes one version gets the object
// converted to it, and the API server converts what it writes back.
func roundTrip(ctx context.Context, env *e2e.Env, written, read *fixtures.Raw) {
	roundTrips(ctx, env, []fixtures.Object{written}, []fixtures.Object{read})
}

// roundTrips does the same with several objects, and reports what differs in any of them.
func roundTrips(ctx context.Context, env *e2e.Env, written, read []fixtures.Object) {
	both := slices.Concat(written, read)
	env.Create(ctx, written...)
	env.ExpectFields(ctx, both...)
	env.AnnotateEach(ctx, fixtures.Key("touched"), "in the one", written...)
	env.ExpectFields(ctx, both...)
	env.AnnotateEach(ctx, fixtures.Key("touched"), "in the other", read...)
	env.ExpectFields(ctx, both...)
}
