package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A running pod can exclude pods of other namespaces, which don't know of it. They get a
// node where it excludes nobody. Here two pods of another namespace exclude the same label:
// one in all namespaces, in rack a, and the other in its own, in rack b.
//
// Source: podAntiAffinity of the Pod API, which is symmetric, and its namespaceSelector;
// https://karpenter.sh/docs/concepts/scheduling, "Pod affinity/anti-affinity".
var _ = Suite.Add(e2e.Spec{
	Name: "keeps pods apart from those of another namespace that exclude them",
	Run: func(ctx context.Context, env *e2e.Env) {
		space, there, here := fixtures.Namespace(), racks(), racks()
		app := fixtures.Deployment(1).On(here).Label(team, here.GetName())
		own := fixtures.PodTerm(rack).Of(team, here.GetName())
		all := fixtures.PodTerm(rack).Of(team, here.GetName()).InAllNamespaces()
		byAll := fixtures.Deployment(1).In(space).On(there).Select(rack, "a").Apart(all)
		byOwn := fixtures.Deployment(1).In(space).On(there).Select(rack, "b").Apart(own)
		env.Create(ctx, space, there, byAll, byOwn)
		env.Await(ctx, 1, check.RunningPods(byAll))
		env.Await(ctx, 1, check.RunningPods(byOwn))

		before := env.Mark()
		env.Create(ctx, here, app)
		env.Await(ctx, 1, check.RunningPods(app))

		env.Expect(env.Since(before), onlyInRack(here, "b"))
	},
})
