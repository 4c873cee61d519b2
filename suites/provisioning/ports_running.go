package provisioning

import (
	"context"

	"github.com/plumbline-e2e/plumbline/e2e"
	"github.com/plumbline-e2e/plumbline/e2e/check"
	"github.com/plumbline-e2e/plumbline/fixtures"
)

// A pod gets its own node if a running pod has taken its host port, however that pod
// declares it. Room on the node does not change that. If Karpenter overlooks the port, it
// means the pod for that node, where the scheduler never lets it run.
//
// Source: hostPort, hostIP and hostNetwork of the Pod API; event Nominated;
// https://github.com/kubernetes/kubernetes/pull/132040 (sidecars).
var _ = e2e.Table(Suite, map[string]takenPort{
	"every-address": {how: "at every address", listen: func(running, late *fixtures.Workload) {
		running.HostPort(port)
		late.HostPortAt("127.0.0.1", port)
	}},
	"host-network": {how: "on the host network", listen: func(running, late *fixtures.Workload) {
		running.OnHostNetwork(port)
		late.HostPort(port)
	}},
	"sidecar": {
		how: "by a sidecar", since: "1.34",
		listen: func(running, late *fixtures.Workload) {
			running.SidecarHostPort(port)
			late.HostPort(port)
		},
		known: []e2e.Known{{
			Releases: ">=1.0.0 <=1.15.0", // seen in v1.9.0 and v1.15.0; the source is the same in v1.0.8
			Issue:    e2e.Finding("karpenter-host-ports-of-sidecars"),
			Reason:   "the host ports of sidecars aren't counted",
			Breaks:   []string{"^waited for 1 pod", "pods that wait fit on no node that could be launched"},
			Explored: `initContainers:(\n  .*)*hostPort:`, // in one action
		}},
	},
}, func(row takenPort) e2e.Spec {
	return e2e.Spec{
		Name:  "keeps a pod apart from running ones that take its host port " + row.how,
		Since: e2e.Since{Kubernetes: row.since},
		Known: row.known,
		Run: func(ctx context.Context, env *e2e.Env) {
			pool := fixtures.NodePool()
			running, late := fixtures.Deployment(1).On(pool), fixtures.Deployment(1).On(pool)
			row.listen(running, late)

			before := env.Mark()
			env.Create(ctx, pool, running)
			env.Await(ctx, 1, check.RunningPods(running))
			node := env.Await(ctx, 1, check.ReadyNodes(pool))[0]
			env.Create(ctx, late)
			env.Await(ctx, 1, check.RunningPods(late))

			env.Expect(env.Since(before), check.Always(check.AtMost(2, check.NodeClaims(pool))), neverNominated(late, node))
		},
	}
})

// takenPort gives two workloads the same host port.
type takenPort struct {
	how, since string // first release of Kubernetes; empty: any
	listen     func(running, late *fixtures.Workload)
	known      []e2e.Known
}
