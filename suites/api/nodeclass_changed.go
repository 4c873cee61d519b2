package api

import (
	"context"
	"fmt"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A NodePool can get another NodeClass, and its nodes follow. It cannot get a NodeClass
// of another kind, because its nodes know nothing of it.
//
// Source: nodeClassRef of the NodePool API, whose group and kind are immutable.
var _ = Suite.Add(e2e.Spec{
	Name:  "lets a pool have another NodeClass, but not one of another group or kind",
	Since: e2e.Since{Karpenter: "1.1"},
	Run: func(ctx context.Context, env *e2e.Env) {
		const path, ref = "spec.template.spec.nodeClassRef", "{group: %s, kind: %s, name: %s}"
		group, kind, name := env.AnotherNodeClass(ctx)
		pool := fixtures.RawNodePool()
		env.Create(ctx, pool)

		env.Accepted(ctx, pool.Write(path, fmt.Sprintf(ref, group, kind, name)))
		env.Refused(ctx, "nodeClassRef.group is immutable", pool.Write(path, fmt.Sprintf(ref, "plumbline.test", kind, name)))
		env.Refused(ctx, "nodeClassRef.kind is immutable", pool.Write(path, fmt.Sprintf(ref, group, "AnotherKind", name)))
	},
})
