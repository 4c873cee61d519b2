package consolidation

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Karpenter removes a node whose pods fit on another although minValues rule out a new node
// for the pods of both. The two nodes are of the cheapest type, so no two types are cheaper.
//
// Source: minValues of spec.template.spec.requirements of the NodePool API;
// https://github.com/kubernetes-sigs/karpenter/pull/2472.
var _ = Suite.Add(e2e.Spec{
	Name: "removes a node where minValues leave no replacement for several",
	Run: func(ctx context.Context, env *e2e.Env) {
		pool := fixtures.NodePool().OnDemand().MinValues(corev1.LabelInstanceTypeStable, 2).
			Consolidate(fixtures.WhenEmptyOrUnderutilized)
		app, first := fixtures.Deployment(1).On(pool), fixtures.Pod().On(pool).HostPort(port)
		second := fixtures.Deployment(1).On(pool).HostPort(port)
		env.Create(ctx, pool, app, first)
		env.Await(ctx, 1, check.RunningPods(app))
		env.Await(ctx, 1, check.RunningPods(first))
		env.Create(ctx, second)
		env.Await(ctx, 1, check.RunningPods(second))
		env.Observe(ctx, karpenter.NominationOver)

		before := env.Mark()
		env.Delete(ctx, first)
		env.Await(ctx, 1, check.DisruptedNodes(pool))
		env.Await(ctx, 0, check.DisruptedNodes(pool))

		env.Expect(env.Since(before),
			check.Always(check.None(check.NodeClaims(pool).New(before))),
			check.LeadsTo(check.AtLeast(1, check.DisruptedNodes(pool)), check.Exactly(1, check.Nodes(pool))))
	},
})
