package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A domain counts even if all its nodes have a taint that the pods don't tolerate. It
// stays empty, so a second pod in the other domain would exceed the skew. Karpenter
// launches no node for that pod, because the scheduler would refuse it.
//
// Source: topologySpreadConstraints, nodeTaintsPolicy (Ignore by default), of the Pod
// API; https://github.com/kubernetes-sigs/karpenter/issues/430.
var _ = Suite.Add(e2e.Spec{
	Name: "launches nothing for pods whose next domain has a taint that they don't tolerate",
	Run: func(ctx context.Context, env *e2e.Env) {
		open, fenced, owner := fencedRacks()
		app := rivalDeployment(open).Spread(fixtures.TopologySpread(rack))

		before := env.Mark()
		env.Create(ctx, open, fenced, owner)
		env.Await(ctx, 1, check.RunningPods(owner))
		env.Create(ctx, app)
		env.Await(ctx, 1, check.RunningPods(app))
		env.AwaitAtLeast(ctx, 1, noFitEvents(app))

		env.Expect(env.Since(before), check.Always(check.AtMost(1, check.NodeClaims(open))),
			check.Always(check.AtMost(1, check.NodeClaims(fenced))),
			check.EndsWith(app, check.Exactly(1, check.RunningPods(app))))
	},
})

// fencedRacks returns two rivals with a rack each, and pods. The second rival has a taint that
// the pods tolerate, so its rack has a node.
func fencedRacks() (open, fenced *fixtures.Pool, owner *fixtures.Workload) {
	dedicated := fixtures.Key("dedicated")
	open, fenced = rivalPools()
	open.Label(rack, "a")
	fenced.Label(rack, "b").Taint(dedicated, fixtures.NoSchedule)
	return open, fenced, fixtures.Deployment(1).On(fenced).Tolerate(dedicated)
}
