package provisioning

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// By default, Karpenter launches a node only if at least minValues values of a label
// remain to choose from. Users set it to prefer a pending pod to dependence on one
// instance type, which may be gone tomorrow. Karpenter reports this on the pod.
//
// Source: minValues in spec.template.spec.requirements of the NodePool API;
// Karpenter: designs/nodepool-requirement-flexibility.md; setting min-values-policy,
// whose default is Strict.
var _ = Suite.Add(e2e.Spec{
	Name: "launches nothing if fewer values than minValues are left to choose from",
	Run: func(ctx context.Context, env *e2e.Env) {
		key := corev1.LabelInstanceTypeStable
		open, choosy := fixtures.NodePool(), fixtures.NodePool().MinValues(key, 2)
		easy := fixtures.Deployment(1).On(open)

		env.Create(ctx, open, choosy, easy)
		node := env.Await(ctx, 1, check.ReadyNodes(open))[0]
		narrow := fixtures.Deployment(1).On(choosy).Select(key, karpenter.Label(node.Unstructured(), key))

		before := env.Mark()
		env.Create(ctx, narrow)
		env.AwaitAtLeast(ctx, 1, noFitEvents(narrow))
		strict := env.Since(before)
		env.Change(ctx, choosy.MinValues(key, 1))
		env.Await(ctx, 1, check.RunningPods(narrow))

		env.Expect(strict, passedOver(choosy, narrow))
		env.Expect(env.Since(before), check.Always(check.AtMost(1, check.NodeClaims(choosy))))
	},
})
