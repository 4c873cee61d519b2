package overlay

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter reports one of two conflicting NodeOverlays of equal weight as not ready,
// with the reason. The price must not depend on which was read last. Once one of them
// gets more weight, both are ready.
//
// Source: spec.weight and status.conditions of the NodeOverlay API;
// designs/node-overlay.md.
var _ = Suite.Add(e2e.Spec{
	Name: "is reported when it conflicts with another of the same weight",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool()
		one := fixtures.NodeOverlay().On(pool).Price("1")
		other := fixtures.NodeOverlay().On(pool).Price("2")
		refused := check.The(one, other).With("that are not ready", isInConflict)

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

// isInConflict tells whether an overlay is reported to conflict with another one.
func isInConflict(overlay *unstructured.Unstructured) bool {
	ready, found := karpenter.Condition(overlay, karpenter.ValidationSucceeded)
	return found && ready.Status == "False" && ready.Reason == "Conflict"
}
