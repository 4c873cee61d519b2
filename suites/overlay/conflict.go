package overlay

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Of two overlays that contradict each other, and neither of which is the heavier, one is
// reported not to be ready, and why; with more weight for one of them both are. What the
// price is must not depend on which was read last.
//
// Source: spec.weight and status.conditions of the NodeOverlay API;
// designs/node-overlay.md.
var _ = Suite.Add(e2e.Spec{
	Name: "is reported when it conflicts with another of the same weight",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		one := fixtures.NodeOverlay().Require(karpenter.NodePoolLabel, fixtures.In, pool.GetName()).Price("1")
		other := fixtures.NodeOverlay().Require(karpenter.NodePoolLabel, fixtures.In, pool.GetName()).Price("2")
		refused := check.The(one, other).With("that are not ready", contradicts)

		before := env.Mark()
		env.Create(ctx, pool, one, other)
		env.Await(ctx, 1, refused)
		env.Change(ctx, other.Weight(2))
		env.Await(ctx, 2, check.The(one, other).In(karpenter.Ready))

		env.Expect(env.Since(before),
			check.LeadsTo(check.AtLeast(2, check.The(one, other)), check.Exactly(1, refused)),
			check.After(check.Leaves(refused), "both are ready",
				check.ForAny(check.Exactly(2, check.The(one, other).In(karpenter.Ready)))))
	},
})

// contradicts says whether an overlay is reported to contradict another one.
func contradicts(overlay *unstructured.Unstructured) bool {
	ready, found := karpenter.Condition(overlay, karpenter.ValidationSucceeded)
	return found && ready.Status == "False" && ready.Reason == "Conflict"
}
