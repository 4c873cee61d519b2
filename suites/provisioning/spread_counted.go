package provisioning

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// crowd is two pods in the first of two racks, and how many of two new pods join them.
type crowd struct {
	counts    string
	by        *fixtures.Spread
	elsewhere bool // on the nodes of another pool
	running   int  // before the new pods come; the rest comes with them
	join      int
	taint     func(elsewhere *fixtures.Pool, others, app *fixtures.Workload) // nil: no taints
}

// fence taints the other pool, if the crowd is about that.
func (c crowd) fence(elsewhere *fixtures.Pool, others, app *fixtures.Workload) {
	if c.taint != nil {
		c.taint(elsewhere, others, app)
	}
}

// Karpenter counts running pods when it spreads new pods. The constraint says which
// count: all that it selects, of any workload, or only those of the same revision. Pods
// on nodes that new pods can't reach, or whose taints they don't tolerate, count only if it
// says so. Here two pods run in one rack, or get nodes there in the same batch. Two more go to
// the other rack if the first two count, otherwise one to each.
//
// Source: topologySpreadConstraints, labelSelector, matchLabelKeys, nodeAffinityPolicy and
// nodeTaintsPolicy, of the Pod API; Karpenter:
// pkg/controllers/provisioning/scheduling/topology.go.
var _ = e2e.Table(Suite, map[string]crowd{
	"running": {"and counts running ones", fixtures.TopologySpread(rack), false, 2, 0, nil},
	"revision": {
		"and ignores those of another revision",
		fixtures.TopologySpread(rack).ByLabel(fixtures.Key("revision")), false, 2, 1, nil,
	},
	"expression": {
		"and ignores those that an expression leaves out",
		fixtures.TopologySpread(rack).Where(fixtures.Key("revision"), fixtures.NotIn, "1", "3"), false, 2, 1, nil,
	},
	"honor": {
		"and ignores those on nodes that their affinity excludes",
		fixtures.TopologySpread(rack).NodeAffinityPolicy(fixtures.Honor), true, 2, 1, nil,
	},
	"honor-waiting": {
		"and ignores those of their batch on nodes that their affinity excludes",
		fixtures.TopologySpread(rack).NodeAffinityPolicy(fixtures.Honor), true, 0, 1, nil,
	},
	"ignore": {
		"and counts those on excluded nodes if nodeAffinityPolicy is Ignore",
		fixtures.TopologySpread(rack).NodeAffinityPolicy(fixtures.Ignore), true, 2, 0, nil,
	},
	"tolerated": {
		"and counts those on nodes whose taints they tolerate", taintsOnly(), true, 2, 0,
		func(elsewhere *fixtures.Pool, others, app *fixtures.Workload) {
			elsewhere.Taint(team, fixtures.NoSchedule)
			others.Tolerate(team)
			app.Tolerate(team)
		},
	},
	"refused": {
		"and ignores those on nodes whose taints they don't tolerate", taintsOnly(), true, 2, 1,
		func(elsewhere *fixtures.Pool, others, _ *fixtures.Workload) {
			elsewhere.Taint(team, fixtures.NoSchedule)
			others.Tolerate(team)
		},
	},
}, func(c crowd) e2e.Spec {
	return e2e.Spec{
		Name: "spreads pods " + c.counts,
		Run: func(ctx context.Context, env *e2e.Env) {
			group, revision := fixtures.Key("group"), fixtures.Key("revision")
			here, there := fixtures.NodePool(), fixtures.NodePool()
			name := here.GetName()
			others := fixtures.Deployment(2).On(eitherPool(here, there, c.elsewhere)).Select(rack, "a").Label(group, name).
				Label(revision, "1").CPU("200m")
			app := fixtures.Deployment(2).On(here).Require(rack, fixtures.In, "a", "b").OnePodPerNode().
				PodAntiAffinity(others, corev1.LabelHostname).Label(group, name).Label(revision, "2").Spread(c.by.Of(group, name))
			c.fence(there, others, app)

			before := env.Mark()
			env.Create(ctx, here.Require(rack, fixtures.In, "a", "b"), there.Require(rack, fixtures.In, "a", "b"), others)
			env.Await(ctx, c.running, check.RunningPods(others))
			crowded := env.Mark()
			env.Create(ctx, app)
			env.Await(ctx, 2, check.RunningPods(app))

			env.Expect(env.Since(before), check.Always(check.Each(check.NodeClaims(here), "require one rack",
				check.RequiringOne(rack))),
				check.Always(check.AtMost(2, check.NodeClaims(here).New(crowded))),
				check.EndsWith(app, check.Exactly(c.join, check.RunningPods(app).On(labeledNodes(here, rack, "a")))),
				check.EndsWith(app, check.Exactly(2-c.join, check.RunningPods(app).On(labeledNodes(here, rack, "b")))))
		},
	}
})

// taintsOnly returns a constraint that leaves nodes out for their taints, and for nothing else.
func taintsOnly() *fixtures.Spread {
	return fixtures.TopologySpread(rack).NodeAffinityPolicy(fixtures.Ignore).NodeTaintsPolicy(fixtures.Honor)
}

func eitherPool(first, second *fixtures.Pool, theSecond bool) *fixtures.Pool {
	if theSecond {
		return second
	}
	return first
}
