package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// Pods that have finished, such as those of a Job, take no place any more where others of their kind are
// spread, though they are still there. The scheduler doesn't count them. If Karpenter did, it would launch nodes
// where the scheduler puts no pod.
//
// Source: https://kubernetes.io/docs/concepts/scheduling-eviction/topology-spread-constraints; Karpenter:
// pkg/controllers/provisioning/scheduling/topology.go, IgnoredForTopology.
var _ = Suite.Add(e2e.Spec{
	Name: "spreads pods and ignores those that have finished",
	Run: func(ctx context.Context, env *e2e.Env) {
		here, there := fixtures.NodePool(), fixtures.NodePool()
		group := func(w *fixtures.Workload) *fixtures.Workload { return w.Label(fixtures.Key("group"), here.GetName()) }
		one, two := group(fixtures.Pod()).On(there).Select(rack, "a"), group(fixtures.Pod()).On(there).Select(rack, "a")
		app := group(fixtures.Deployment(2)).On(here).Require(rack, fixtures.In, "a", "b").
			Spread(fixtures.TopologySpread(rack).NodeAffinityPolicy(fixtures.Ignore).Of(fixtures.Key("group"), here.GetName()))

		env.Create(ctx, here.Require(rack, fixtures.In, "a", "b"), there.Require(rack, fixtures.In, "a", "b"), one, two)
		env.EndPod(ctx, env.Await(ctx, 1, check.RunningPods(one))[0])
		env.EndPod(ctx, env.Await(ctx, 1, check.RunningPods(two))[0])
		env.Await(ctx, 1, check.SucceededPods(one))
		env.Await(ctx, 1, check.SucceededPods(two))
		before := env.Mark()
		env.Create(ctx, app)
		env.Await(ctx, 2, check.RunningPods(app))

		env.Expect(env.Since(before),
			check.Always(check.AllOf(check.AtLeast(1, check.SucceededPods(one)), check.AtLeast(1, check.SucceededPods(two)))),
			check.Always(check.AtMost(2, check.NodeClaims(here))),
			check.EndsWith(app, check.Exactly(1, check.RunningPods(app).On(labeledNodes(here, rack, "a")))),
			check.EndsWith(app, check.Exactly(1, check.RunningPods(app).On(labeledNodes(here, rack, "b")))))
	},
})
