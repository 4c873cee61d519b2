package api

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/providers"
)

// A NodeClass says in its conditions whether it is ready, and of which of its generations that
// is true. Whoever changes it can wait for that, and sees why nothing is launched. Karpenter
// takes a condition of an older generation for unknown, and launches nothing meanwhile.
//
// Source: designs/v1-api.md, "Status Conditions"; Kubernetes' API conventions, metav1.Condition;
// condition NodeClassReady of the NodePool API, which repeats it.
var _ = Suite.Add(e2e.Spec{
	Name:  "says in a NodeClass's conditions whether it is ready, and of which generation",
	Needs: []providers.Capability{providers.NodeClassStatus},
	Since: e2e.Since{Karpenter: "1.1"},
	Run: func(ctx context.Context, env *e2e.Env) {
		before := env.Mark()
		class := env.NodeClass(ctx)
		ready := check.The(class).In(karpenter.Ready).With("and say of which generation", isOfItsGeneration)
		env.Await(ctx, 1, ready)

		env.Expect(env.Since(before), check.LeadsTo(check.AtLeast(1, check.The(class)), check.AtLeast(1, ready)))
	},
})

// isOfItsGeneration tells whether an object's condition Ready is about its current generation.
func isOfItsGeneration(o *unstructured.Unstructured) bool {
	ready, found := karpenter.Condition(o, karpenter.Ready)
	return found && ready.ObservedGeneration == o.GetGeneration()
}
