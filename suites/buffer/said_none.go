package buffer

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A buffer that asks for no pods any more doesn't say that it has room for them. Its nodes may go
// at once, and whoever reads that there is room relies on them.
//
// Source: condition Provisioning of the CapacityBuffer API; designs/capacity-buffers.md: it is True
// if capacity is actually available.
var _ = Suite.Add(e2e.Spec{
	Name: "says that it has no room once it is for no pods",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		app := fixtures.Deployment(0).On(pool)
		buffer := fixtures.CapacityBuffer(app).Pods(1)
		env.Create(ctx, pool, app, buffer)
		env.Await(ctx, 1, check.The(buffer).In(provisioned))

		before := env.Mark()
		env.Change(ctx, buffer.Pods(0))
		env.Await(ctx, 1, check.The(buffer).SayingWhyNot(provisioned))

		env.Expect(env.Since(before), check.LeadsTo(
			check.AtLeast(1, check.The(buffer).With("for no pods", forNoPods)), check.None(check.The(buffer).In(provisioned))))
	},
})

// forNoPods tells whether a buffer's spec asks for room for no pods.
func forNoPods(buffer *unstructured.Unstructured) bool {
	replicas, found, _ := unstructured.NestedInt64(buffer.Object, "spec", "replicas")
	return found && replicas == 0
}
