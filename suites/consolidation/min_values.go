package consolidation

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter removes a node whose pods fit on another although minValues rule out one new
// node for the pods of both: several cheaper types would do, but fewer than minValues ask
// for.
//
// Source: minValues of spec.template.spec.requirements of the NodePool API;
// https://github.com/kubernetes-sigs/karpenter/pull/2472.
var _ = Suite.Add(e2e.Spec{
	Name: "removes a node where minValues leave no replacement for several",
	Known: []e2e.Known{{
		Releases: ">=1.6.0 <1.9.0", // seen in v1.6.4
		Issue:    "https://github.com/kubernetes-sigs/karpenter/pull/2472",
		Reason:   "consolidation of several nodes panics when minValues can't be met at the price",
		Breaks:   []string{"^waited for 1 node of pool", "^a controller of the provider panicked"},
	}},
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().OnDemand().MinValues(corev1.LabelInstanceTypeStable, fewTypes).
			Consolidate(fixtures.WhenEmptyOrUnderutilized)
		one, two, _ := launchLargeNodes(ctx, env, pool)

		before := env.Mark()
		env.Delete(ctx, one, two)
		env.Await(ctx, 1, check.DisruptedNodes(pool))
		env.Await(ctx, 0, check.DisruptedNodes(pool))

		env.Expect(env.Since(before),
			check.LeadsTo(check.AtLeast(1, check.DisruptedNodes(pool)), check.Exactly(1, check.Nodes(pool))))
	},
})

// fewTypes is more types than a small catalogue has that are cheaper than the cheapest
// for three CPUs, and fewer than those that cost less than twice as much.
const fewTypes = 8
