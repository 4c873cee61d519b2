package nodeclaim

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A NodeClaim that requires any instance type gets a node of one. Users and static pools may name the
// label for its minValues, or to say that it doesn't matter.
//
// Source: spec.requirements of the NodeClaim API, operator Exists; Karpenter: pkg/cloudprovider/types.go,
// Create.
var _ = Suite.Add(e2e.Spec{
	Name: "gets a node if it requires any instance type",
	Run: func(ctx context.Context, env *e2e.Env) {
		nodeClaim := fixtures.NodeClaim().Require(corev1.LabelInstanceTypeStable, fixtures.Exists)
		initialized := check.The(nodeClaim).In(karpenter.Initialized)

		before := env.Mark()
		env.Create(ctx, nodeClaim)
		env.Await(ctx, 1, initialized)

		env.Expect(env.Since(before), check.LeadsTo(check.AtLeast(1, check.The(nodeClaim)), check.AtLeast(1, initialized)))
	},
})
