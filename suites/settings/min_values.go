package settings

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// With the policy BestEffort, minValues is a wish. A pod that only one instance type suits gets
// its node, although the pool wants two types to choose from. By default it would stay pending.
//
// Source: https://karpenter.sh/docs/reference/settings, MIN_VALUES_POLICY; minValues in
// spec.template.spec.requirements of the NodePool API.
var _ = Suite.Add(e2e.Spec{
	Name:  "launches a node with fewer values than minValues if they are a best effort",
	Since: e2e.Since{Karpenter: "1.6"},
	Run: func(ctx context.Context, env *e2e.Env) {
		env.Configure(ctx, e2e.Settings{karpenter.MinValuesPolicy: "BestEffort"})
		key := corev1.LabelInstanceTypeStable
		open, choosy := fixtures.NodePool(), fixtures.NodePool().MinValues(key, 2)
		easy := fixtures.Deployment(1).On(open)
		env.Create(ctx, open, choosy, easy)
		node := env.Await(ctx, 1, check.ReadyNodes(open))[0]
		narrow := fixtures.Deployment(1).On(choosy).Select(key, karpenter.Label(node.Unstructured(), key))

		before := env.Mark()
		env.Create(ctx, narrow)
		env.Await(ctx, 1, check.RunningPods(narrow))

		env.Expect(env.Since(before), check.LeadsTo(
			check.AtLeast(1, check.UnschedulablePods(narrow)), check.AtLeast(1, check.NodeClaims(choosy))))
	},
})
