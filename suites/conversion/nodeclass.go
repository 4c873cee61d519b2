package conversion

import (
	"context"
	"fmt"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A v1beta1 NodePool may name its NodeClass alone, with its kind, or with its kind and apiVersion. V1
// has all of it but the apiVersion's version, and v1beta1 what was written. Nodes would be launched
// with another image, network or role otherwise, or not at all.
//
// Source: "Requiring all nodeClassRef fields" and "Updating spec.nodeClassRef.apiVersion to
// spec.nodeClassRef.group" in designs/v1-api.md.
var _ = e2e.Table(Suite, map[string]reference{
	"name": {
		"completes a v1beta1 pool's reference to a NodeClass by name", "{name: %[3]s, apiVersion: %[1]s/v1alpha1}",
	},
	"kind": {
		"completes a v1beta1 pool's reference to a NodeClass by name and kind", "{name: %[3]s, kind: %[2]s}",
	},
	"api-version": {
		"keeps a v1beta1 pool's reference to a NodeClass", "{name: %[3]s, kind: %[2]s, apiVersion: %[1]s/v1alpha1}",
	},
}, func(row reference) e2e.Spec {
	return e2e.Spec{Name: row.name, Run: func(ctx context.Context, env *e2e.Env) {
		group, kind, name := env.AnotherNodeClass(ctx)
		pool := fixtures.RawNodePool().V1Beta1().
			Write("spec.template.spec.nodeClassRef", fmt.Sprintf(row.written, group, kind, name))
		roundTrip(ctx, env, pool, fixtures.RawNodePool().Called(pool).
			Write("spec.template.spec.nodeClassRef", fmt.Sprintf("{group: %s, kind: %s, name: %s}", group, kind, name)))
	}}
})

// reference is a reference to a NodeClass as v1beta1 has it: a format of its group, kind and name.
type reference struct{ name, written string }
