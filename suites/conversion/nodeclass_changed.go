package conversion

import (
	"context"
	"fmt"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A NodePool that was written as v1beta1 may be given another NodeClass in v1. V1beta1 shows the new
// one, and a client that writes anything in v1beta1 leaves it alone. Otherwise the pool would go back
// to the old NodeClass, and replace all of its nodes.
//
// Source: spec.template.spec.nodeClassRef of both versions;
// NodePool.ConvertTo in pkg/apis/v1/nodepool_conversion.go, which prefers the annotation
// compatibility.karpenter.sh/v1beta1-nodeclass-reference.
var _ = Suite.Add(e2e.Spec{
	Name: "follows a v1beta1 pool to another NodeClass in v1",
	Known: lossy("the NodeClass comes from the annotation of the last v1beta1 client, whatever v1 says now",
		"nodeClassRef.name is .*; wanted is .*-another", unseen),
	Run: func(ctx context.Context, env *e2e.Env) {
		group, kind, another := env.AnotherNodeClass(ctx)
		old := fixtures.RawNodePool().V1Beta1()
		env.Create(ctx, old)

		pool := fixtures.RawNodePool().Called(old).
			Write("spec.template.spec.nodeClassRef", fmt.Sprintf("{group: %s, kind: %s, name: %s}", group, kind, another))
		env.Patch(ctx, pool, fmt.Sprintf(`{"spec":{"template":{"spec":{"nodeClassRef":{"name":%q}}}}}`, another))
		env.Annotate(ctx, old, fixtures.Key("touched"), "by an old client")
		env.ExpectFields(ctx, pool, fixtures.RawNodePool().V1Beta1().Called(old).
			Write("spec.template.spec.nodeClassRef", fmt.Sprintf("{kind: %s, name: %s}", kind, another)))
	},
})
