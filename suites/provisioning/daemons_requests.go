package provisioning

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A new node has room for its pod and the requests of its DaemonSet pods, or for their limits if they
// request nothing, whatever kinds of affinity they have, and whenever they start. An agent that does
// not fit is missing on just this node. No other node comes for it.
//
// Source: https://karpenter.sh/docs/concepts/scheduling, "Resource requests";
// https://github.com/kubernetes-sigs/karpenter/pull/2514.
var _ = e2e.Table(Suite, map[string]countedDaemons{
	"requests": {how: "by their requests", size: func(daemon *fixtures.Workload) { daemon.CPU("2") }},
	"limits": {how: "by their limits where they request nothing", size: func(daemon *fixtures.Workload) {
		daemon.WithoutRequests().Limit("cpu", "2")
	}},
	"pod-limits": {
		how: "by the limits of their pods as a whole where they request nothing", since: "1.34",
		size: func(daemon *fixtures.Workload) { daemon.WithoutRequests().PodCPULimit("2") },
		known: []e2e.Known{{
			Releases: ">=1.0.0 <=1.15.0", // seen in v1.0.8, v1.6.4, v1.9.0 and v1.15.0
			Issue:    e2e.Finding("karpenter-pod-limits-of-daemons"),
			Reason:   "what a DaemonSet's pods may use as a whole isn't taken for their request",
			Breaks:   noRoomForDaemon,
		}},
	},
	"init-containers": {how: "with their init containers", size: func(daemon *fixtures.Workload) {
		daemon.InitContainer("2")
	}},
	"init-limits": {how: "with the limits of their init containers", size: func(daemon *fixtures.Workload) {
		daemon.LimitedInitContainer("2")
	}},
	"node-affinity": {how: "that require a node like it", size: func(daemon *fixtures.Workload) {
		daemon.CPU("2").Require(corev1.LabelOSStable, fixtures.Exists)
	}},
	"second-term": {how: "that require a node like it in their second term", size: func(daemon *fixtures.Workload) {
		daemon.CPU("2").Require(team, fixtures.In, "blue").OrRequire(corev1.LabelOSStable, fixtures.Exists)
	}, known: firstTermOfDaemons},
	"preference": {how: "that prefer other nodes", size: func(daemon *fixtures.Workload) {
		daemon.CPU("2").Prefer(1, team, fixtures.In, "blue")
	}, known: firstTermOfDaemons},
	"pod-anti-affinity": {how: "that must be apart from pods elsewhere", size: func(daemon *fixtures.Workload) {
		daemon.CPU("2").OnePodPerNode()
	}},
	"registered": {
		how:  "that wait until it is registered",
		size: func(daemon *fixtures.Workload) { daemon.CPU("2").Select(karpenter.RegisteredLabel, "true") },
		known: []e2e.Known{{
			Releases: ">=1.0.0 <=1.13.0", // by the source of v1.0.8, v1.5.5 and v1.9.0
			Issue:    "https://github.com/kubernetes-sigs/karpenter/pull/2161",
			Reason:   "a new node is chosen without room for daemons that select karpenter.sh/registered",
			Breaks:   noRoomForDaemon,
		}},
	},
}, func(row countedDaemons) e2e.Spec {
	return e2e.Spec{
		Name:  "counts daemons " + row.how,
		Since: e2e.Since{Kubernetes: row.since},
		Known: row.known,
		Run: func(ctx context.Context, env *e2e.Env) {
			pool := fixtures.NodePool()
			daemon, app := fixtures.DaemonSet().On(pool), fixtures.Deployment(1).On(pool).CPU("2")
			row.size(daemon)

			before := env.Mark()
			env.Create(ctx, pool, daemon)
			env.Create(ctx, app)
			env.Await(ctx, 1, check.RunningPods(app))
			env.Observe(ctx, karpenter.Settled)

			env.Expect(env.Since(before), roomForDaemon(pool, app, daemon)...)
		},
	}
})

// firstTermOfDaemons is that a daemon counts only on nodes that its first term and its preferences are for.
var firstTermOfDaemons = []e2e.Known{{
	Releases: ">=1.0.0 <1.1.0", // seen in v1.0.8
	Issue:    "https://github.com/kubernetes-sigs/karpenter/pull/1727",
	Reason:   "a daemon is counted on nodes that its first term and its preferences are for",
	Breaks:   noRoomForDaemon,
}}

// countedDaemons is a kind of daemons that need 2 CPUs.
type countedDaemons struct {
	how, since string // first release of Kubernetes; empty: any
	size       func(daemon *fixtures.Workload)
	known      []e2e.Known
}

// roomForDaemon checks that the one node of a pool has room for a pod and a daemon of 2 CPUs each.
func roomForDaemon(pool *fixtures.Pool, app, daemon *fixtures.Workload) []check.Check {
	return []check.Check{
		check.LeadsTo(check.AtLeast(1, check.RunningPods(app)), check.AtLeast(1, check.RunningPods(daemon))),
		check.Always(check.AtMost(1, check.NodeClaims(pool))),
		check.Always(requestsBetween(check.NodeClaims(pool), corev1.ResourceCPU, "4", "5")),
	}
}

// noRoomForDaemon is what breaks where a node has room for one of both: kube-scheduler decides which of them
// gets it. Without it the daemon stays pending, or the pod does and gets a second node.
var noRoomForDaemon = []string{
	"leads to at least 1 pod of daemon-",
	"^always at most 1 NodeClaim of pool",
	"^always all NodeClaims of pool .* ask for 4 of cpu",
}
