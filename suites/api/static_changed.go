package api

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A NodePool is always static, or never. Its replicas may change, but nobody can add or
// remove the field. Otherwise nodes that came for pods could suddenly become spare nodes
// and be removed.
//
// Source: spec.replicas of the NodePool API, which came with Karpenter 1.8;
// designs/static-capacity.md.
var _ = Suite.Add(e2e.Spec{
	Name:  "keeps a static pool static, and others from becoming static",
	Since: e2e.Since{Karpenter: karpenter.StaticCapacitySince},
	Run: func(ctx context.Context, env *e2e.Env) {
		const transition = "Cannot transition NodePool between static (replicas set) and dynamic"
		static, dynamic := fixtures.RawNodePool().Write("spec.replicas", "0"), fixtures.RawNodePool()
		env.Create(ctx, static, dynamic)

		env.Accepted(ctx, static.Write("spec.replicas", "3"))
		env.Refused(ctx, transition, static.Unwrite("spec.replicas"))
		env.Accepted(ctx, dynamic.Write("spec.limits", "{nodes: '3'}"))
		env.Refused(ctx, transition, dynamic.Write("spec.replicas", "0"))
	},
})
