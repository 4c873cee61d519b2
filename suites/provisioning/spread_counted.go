package provisioning

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// crowd is two pods that run in the first of two racks, and how many of two more
// come to it by a constraint.
type crowd struct {
	counts    string
	by        *fixtures.Spread
	elsewhere bool // on the nodes of another pool
	join      int
}

// Pods are spread with regard to those that run already, and which of these count is
// said by the constraint: all that it selects, of whatever workload; only those of
// the same revision; not those on nodes that the pods can't reach, unless it says so.
// With a crowd of two in one rack, two more go to the other one if it counts, and
// one to each if it doesn't.
//
// Source: topologySpreadConstraints, labelSelector, matchLabelKeys and
// nodeAffinityPolicy, of the Pod API; Karpenter:
// pkg/controllers/provisioning/scheduling/topology.go.
var _ = e2e.Table(Suite, map[string]crowd{
	"running": {"and counts running ones", fixtures.TopologySpread(rack), false, 0},
	"revision": {
		"and ignores those of another revision",
		fixtures.TopologySpread(rack).ByLabel(fixtures.Key("revision")), false, 1,
	},
	"honor": {
		"and ignores those on nodes that their affinity excludes",
		fixtures.TopologySpread(rack).NodeAffinityPolicy(fixtures.Honor), true, 1,
	},
	"ignore": {
		"and counts those on excluded nodes if nodeAffinityPolicy is Ignore",
		fixtures.TopologySpread(rack).NodeAffinityPolicy(fixtures.Ignore), true, 0,
	},
}, func(c crowd) e2e.Spec {
	return e2e.Spec{
		Name: "spreads pods " + c.counts,
		Run: func(ctx context.Context, env *e2e.Env) {
			group, revision := fixtures.Key("group"), fixtures.Key("revision")
			here, there := fixtures.NodePool(), fixtures.NodePool()
			name := here.GetName()
			others := fixtures.Deployment(2).On(either(here, there, c.elsewhere)).Select(rack, "a").Label(group, name).
				Label(revision, "1")
			app := fixtures.Deployment(2).On(here).OnePodPerNode().PodAntiAffinity(others, corev1.LabelHostname).
				Label(group, name).Label(revision, "2").Spread(c.by.Of(group, name))

			before := env.Mark()
			env.Create(ctx, here.Require(rack, fixtures.In, "a", "b"), there.Require(rack, fixtures.In, "a", "b"), others)
			env.Await(ctx, 2, check.RunningPods(others))
			env.Create(ctx, app)
			env.Await(ctx, 2, check.RunningPods(app))

			env.Expect(env.Since(before), check.Always(check.Each(check.NodeClaims(here), "require one rack", decided(rack))),
				endsWith(app, check.Exactly(c.join, check.RunningPods(app).On(labelled(here, rack, "a")))),
				endsWith(app, check.Exactly(2-c.join, check.RunningPods(app).On(labelled(here, rack, "b")))))
		},
	}
})

// either is the second of two pools if it shall be, and else the first.
func either(first, second *fixtures.Pool, theSecond bool) *fixtures.Pool {
	if theSecond {
		return second
	}
	return first
}
